import {
  type ConnectionRules,
  checkConnection,
  checkTtl,
  invalidOption,
  show,
  utf8Length,
} from "@turnkeep/core/store-kit";
import type { MongoClient } from "./client.ts";

/** Where the database is: a client of yours, an address, or a driver's configuration; one of them. */
export type MongoConnection =
  | {
      /** A `MongoClient` of `mongodb`. The store never closes it. */
      readonly client: MongoClient;
      readonly url?: undefined;
      readonly config?: undefined;
    }
  | {
      /** `mongodb://user:password@host:27017/database`, or `mongodb+srv://`. Opened at the first call, closed by the store. */
      readonly url: string;
      readonly client?: undefined;
      readonly config?: undefined;
    }
  | {
      /** An address as `url`, and what `new MongoClient(url, config)` takes. Opened at the first call, closed by the store. */
      readonly config: { readonly url: string };
      readonly client?: undefined;
      readonly url?: undefined;
    };

/** Options of `mongoStore`. */
export type MongoStoreOptions = MongoConnection & {
  /** The database of the collections. Default: the one that the address names, else `"turnkeep"`. */
  readonly database?: string | undefined;
  /** What the names of the collections begin with. Default `"turnkeep_"`. Any text without `$`, of 100 bytes at most. */
  readonly prefix?: string | undefined;
  /** A memory untouched by writes for so many milliseconds is gone, by the database's clock. Default: never. */
  readonly ttlMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: MongoConnection;
  readonly database: string;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
}

const schemes = ["mongodb://", "mongodb+srv://"];

const connectionRules: ConnectionRules = {
  factory: "mongoStore",
  client: { method: "db", is: "a MongoClient of mongodb" },
  schemes,
  config: "new MongoClient(config.url, config) of mongodb",
};

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function normalizeOptions(options: MongoStoreOptions): NormalOptions {
  checkConnection(options, connectionRules);
  const { client, url, config } = options;
  if (config !== undefined) checkConnection({ url: config.url ?? "" }, connectionRules);
  const { database = databaseOf(url ?? config?.url) ?? "turnkeep", prefix = "turnkeep_", ttlMs } = options;
  checkName(
    "database",
    database,
    63,
    /[\0/\\. "$*<>:|?]|\p{Surrogate}/u,
    'without any of / \\ . " $ * < > : | ?',
  );
  if (database === "") throw invalidOption('database must not be empty: leave it out for "turnkeep"');
  checkName(
    "prefix",
    prefix,
    100,
    /[\0$]|^system\.|^\.|\p{Surrogate}/u,
    'without $, "system." and "." in front',
  );
  checkTtl(ttlMs);
  const connection: MongoConnection =
    client !== undefined ? { client } : url !== undefined ? { url } : { config: { ...config } };
  return { connection, database, prefix, ttlMs };
}

/** The path of an address, which may name several hosts and then is no URL. */
function databaseOf(url: string | undefined): string | undefined {
  const path = /^[^:]+:\/\/[^/]*\/([^?]+)/.exec(url ?? "")?.[1];
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    throw invalidOption("url cannot be read: its database is not percent-encoded (not shown)");
  }
}

function checkName(option: string, value: string, maxBytes: number, forbidden: RegExp, rule: string): void {
  if (typeof value !== "string") throw invalidOption(`${option} must be a string, not ${show(value)}`);
  if (forbidden.test(value)) {
    throw invalidOption(
      `${option} must be well-formed Unicode without U+0000 and ${rule}, not ${show(value)}`,
    );
  }
  const bytes = utf8Length(value);
  if (bytes > maxBytes) {
    throw invalidOption(`${option} must not exceed ${maxBytes} UTF-8 bytes, but ${show(value)} has ${bytes}`);
  }
}
