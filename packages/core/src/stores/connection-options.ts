import { invalidOption } from "../errors.ts";
import { elsewhere, listed, wrongOption } from "../option-checks.ts";
import {
  type AnyField,
  checkedFields,
  checkNames,
  type Fields,
  optional,
  type Taken,
  takeOptions,
} from "../option-fields.ts";
import { kindOf } from "../values.ts";

/**
 * Where a store's database is: exactly one of a client, a URL or a driver's configuration. The store says what each
 * must be.
 */
export type ConnectionOptions<Client, Config extends object = object> =
  | {
      /** Your own client. The store never closes it. */
      readonly client: Client;
      readonly url?: undefined;
      readonly config?: undefined;
    }
  | {
      /**
       * A URL. The store connects at its first call and closes the connection. `undefined`, as a variable of the
       * environment may be, is `INVALID_OPTION`.
       */
      readonly url: string | undefined;
      readonly client?: undefined;
      readonly config?: undefined;
    }
  | {
      /** The options of the driver's own client. The store creates one at its first call and closes it. */
      readonly config: Config;
      readonly client?: undefined;
      readonly url?: undefined;
    };

/** What a store's options must be, and how its errors word it. */
type StoreRules<Given> = {
  /** The function that takes the options: `"postgresStore"`. */
  readonly factory: string;
  /** A method that identifies a client, and a name for what has it. */
  readonly client: {
    readonly method: string;
    readonly is: string;
    /** Whether it is a client that has no such method. Default: none is. */
    readonly isOther?: ((client: unknown) => boolean) | undefined;
  };
  /** The allowed beginnings of a URL: `["postgres://", "postgresql://"]`. Absent: the store takes no `url`. */
  readonly schemes?: readonly string[] | undefined;
  /** What `config` is passed to: `"new Pool(config) of pg"`. Absent: the store takes no `config`. */
  readonly config?: string | undefined;
  /** The name of the option, if there is one, that takes a path on this machine instead: `"folder"`. */
  readonly path?: string | undefined;
  /** The store's other options: `{ prefix: optional(nameText(), "chat_") }`, with `satisfies Fields<…>`. */
  readonly options: Given;
};

/** What a store was given: where its database is, apart from its other options with every default in place. */
type TakenByStore<Options, Given> = Taken<Options, Given> & {
  readonly connection: Options extends unknown ? Omit<Options, keyof Given> : never;
};

const ruleFields = {
  factory: elsewhere,
  client: elsewhere,
  schemes: optional(),
  config: optional(),
  path: optional(),
  options: elsewhere,
} satisfies Fields<StoreRules<object>>;

/**
 * Checks the options of a store: exactly one of `client`, `url` and `config` is given and is what the store takes, and
 * its own options are as their table says. A URL is never quoted, wherever it was given: it may hold a password. An empty
 * one is refused, like any other without a host.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { type ConnectionOptions, type Fields, nameText, optional, takeStoreOptions, ttl } from "@turnkeep/core/store-kit";
 *
 * interface OwnOptions {
 *   readonly prefix?: string | undefined;
 *   readonly ttlMs?: number | undefined;
 * }
 *
 * export function wireStore(options: ConnectionOptions<{ send(text: string): void }> & OwnOptions) {
 *   const { connection, prefix, ttlMs } = takeStoreOptions(options, {
 *     factory: "wireStore",
 *     client: { method: "send", is: "a Wire" },
 *     schemes: ["wire://"],
 *     config: "new Wire(config)",
 *     options: { prefix: optional(nameText(), "chat_"), ttlMs: optional(ttl) } satisfies Fields<OwnOptions>,
 *   });
 *   return { connection, prefix, ttlMs };
 * }
 * ```
 */
export function takeStoreOptions<
  Options extends object,
  const Given extends Readonly<Record<string, AnyField>>,
>(options: Options, rules: StoreRules<Given>): TakenByStore<Options, Given> {
  takeOptions("takeStoreOptions' rules", ruleFields, rules as StoreRules<object>);
  const { factory } = rules;
  const ways = waysOf(rules);
  if (typeof options !== "object" || options === null) {
    throw invalidOption(`${factory} takes an object with ${listed(ways, "or")}, not ${kindOf(options)}`);
  }
  checkNames(factory, options, [...ways, ...Object.keys(rules.options)]);
  checkOneWay(options, factory, ways);
  const connection = Object.fromEntries(ways.map((way) => [way, Reflect.get(options, way)]));
  checkConnection(connection, rules);
  return { ...checkedFields(rules.options, options, ""), connection } as TakenByStore<Options, Given>;
}

/** The names of the options of which exactly one is given. */
function waysOf({ schemes, config, path }: StoreRules<unknown>): string[] {
  return ["client", ...(schemes ? ["url"] : []), ...(config ? ["config"] : []), ...(path ? [path] : [])];
}

function checkConnection(
  connection: Readonly<Record<string, unknown>>,
  { client: takesClient, schemes = [], config: takes, path }: StoreRules<unknown>,
): void {
  const { client, url, config } = connection;
  const { method, is, isOther } = takesClient;
  if (client !== undefined && !hasMethod(client, method) && !isOther?.(client)) {
    throw invalidOption(`client must be ${is}, with a ${method} method, not ${kindOf(client)}`);
  }
  if (url !== undefined && !schemes.some((scheme) => beginsWith(url, scheme))) {
    throw invalidOption(
      `url must be an address that begins with ${schemes.join(" or ")} (not shown: it may hold a password)`,
    );
  }
  if (config !== undefined && (typeof config !== "object" || config === null)) {
    throw invalidOption(`config must be an object, as ${takes} takes it, not ${kindOf(config)}`);
  }
  if (path !== undefined) checkPath(path, connection[path]);
}

function checkOneWay(options: object, factory: string, ways: readonly string[]): void {
  const given = ways.filter((way) => Reflect.get(options, way) !== undefined);
  if (given.length === 1) return;
  const unset = given.length === 0 ? ways.slice(1).find((way) => way in options) : undefined;
  const why = unset === undefined ? "" : `: ${unset} is undefined. Is its variable set?`;
  const names = given.join(" and ") || "none of them";
  throw invalidOption(`${factory} takes one of ${listed(ways, "and")}, but was given ${names}${why}`);
}

/** An address in its place is not quoted: it may hold a password. */
function checkPath(name: string, path: unknown): void {
  if (path === undefined) return;
  if (typeof path === "string" && path !== "" && !path.includes("\0") && !path.includes("://")) return;
  throw wrongOption(name, path, "a path on this machine");
}

/**
 * Parses a URL, with its user and password percent-decoded; `""` if there is none.
 *
 * Errors: `INVALID_OPTION` if it is not a URL, or if user or password are not percent-encoded; the URL is never quoted.
 *
 * @example
 * ```ts
 * import { parseUrl } from "@turnkeep/core/store-kit";
 *
 * parseUrl("redis://app:s3%2Fcret@localhost:6379/0").password; // "s3/cret"
 * ```
 */
export function parseUrl(address: string): {
  readonly url: URL;
  readonly username: string;
  readonly password: string;
} {
  if (!URL.canParse(address)) {
    throw invalidOption("url cannot be read: check its host and port (not shown: it may hold a password)");
  }
  const url = new URL(address);
  try {
    return {
      url,
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    throw invalidOption("url cannot be read: percent-encode its user and password (not shown)");
  }
}

function hasMethod(client: unknown, method: string): boolean {
  return typeof client === "object" && client !== null && typeof Reflect.get(client, method) === "function";
}

/** Something must follow the scheme. */
function beginsWith(url: unknown, scheme: string): boolean {
  return typeof url === "string" && url.toLowerCase().startsWith(scheme) && url.length > scheme.length;
}
