import { invalidOption } from "../errors.ts";
import { checkNames, wrongOption } from "../option-checks.ts";
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

/** What a store's `client`, `url` and `config` must be, and how its errors word it. */
export interface ConnectionRules {
  /** The function that takes the options: `"postgresStore"`. */
  readonly factory: string;
  /** A method that identifies a client, and a name for what has it. */
  readonly client: { readonly method: string; readonly is: string };
  /** The allowed beginnings of a URL: `["postgres://", "postgresql://"]`. */
  readonly schemes: readonly string[];
  /** What `config` is passed to: `"new Pool(config) of pg"`. */
  readonly config: string;
  /** The name of the option, if there is one, that takes a path on this machine instead: `"folder"`. */
  readonly path?: string | undefined;
  /** The store's other options; any others are refused. Absent: other options are not checked. */
  readonly options?: readonly string[] | undefined;
}

/**
 * Throws unless exactly one of `client`, `url` and `config` is given and is what the store takes. A URL is never
 * quoted, wherever it was given: it may hold a password. An empty one is refused, like any other without a host.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { checkConnection } from "@turnkeep/core/store-kit";
 *
 * checkConnection(
 *   { url: "postgres://localhost/chat" },
 *   {
 *     factory: "postgresStore",
 *     client: { method: "query", is: "a Pool or Client of pg" },
 *     schemes: ["postgres://", "postgresql://"],
 *     config: "new Pool(config) of pg",
 *   },
 * );
 * ```
 */
export function checkConnection(
  options: { readonly client?: unknown; readonly url?: unknown; readonly config?: unknown },
  rules: ConnectionRules,
): void {
  checkNames("checkConnection's rules", rules, ["factory", "client", "schemes", "config", "path", "options"]);
  const { factory, client: takesClient, schemes, config: takes, path, options: others } = rules;
  const { method, is } = takesClient;
  const ways = ["client", "url", "config", ...(path === undefined ? [] : [path])];
  if (typeof options !== "object" || options === null) {
    throw invalidOption(`${factory} takes an object with ${listed(ways, "or")}, not ${kindOf(options)}`);
  }
  if (others !== undefined) checkNames(factory, options, [...ways, ...others]);
  checkOneWay(options, factory, ways);
  const { client, url, config } = options;
  if (client !== undefined && !hasMethod(client, method)) {
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
  if (path !== undefined) checkPath(path, Reflect.get(options, path));
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

function listed(names: readonly string[], word: "and" | "or"): string {
  return `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
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
