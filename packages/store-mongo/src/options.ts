import {
  type ConnectionOptions,
  type Fields,
  invalidOption,
  nameText,
  optional,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import type { MongoClient } from "./client.ts";

/** The second form accepts the driver's options in a literal; the first accepts the driver's own type. */
type MongoConfig = { readonly url: string } | { readonly url: string; readonly [option: string]: unknown };

/**
 * How to reach the database, one of:
 *
 * - `client`: a `MongoClient` of `mongodb`.
 * - `url`: `mongodb://user:password@host:27017/database`, or `mongodb+srv://`.
 * - `config`: what `new MongoClient(url, config)` takes, with the URL as its member `url`.
 */
export type MongoConnection = ConnectionOptions<MongoClient, MongoConfig>;

/** Options of `mongoStore`: one of `client`, `url` and `config` (see {@link MongoConnection}), and these. */
export type MongoStoreOptions = MongoConnection & {
  /** The database of the collections. Default: the one that the URL names, else `"turnkeep"`. */
  readonly database?: string | undefined;
  /**
   * The prefix of the collections' names. Default `"turnkeep_"`. At most 100 bytes, without `$` and `.system.`, and not
   * beginning with `.` or `system.`.
   */
  readonly prefix?: string | undefined;
  /** A memory expires after this many milliseconds without a write, by the database's clock. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * How exactly the order `newest` knows a memory's last activity, in milliseconds: a write notes it if what is noted is
   * older. Default 60,000.
   */
  readonly activityMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: MongoConnection;
  readonly database: string;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
}

const databaseName = nameText({
  maxBytes: 63,
  forbidden: /[/\\. "$*<>:|?]/,
  rule: 'without any of / \\ . " $ * < > : | ?',
  ifEmpty: 'leave it out for "turnkeep"',
});
const prefixName = nameText({
  maxBytes: 100,
  forbidden: /\$|(?:^|\.)system\.|^\./,
  rule: 'without $, without ".system.", and without "system." or "." in front',
});

const rules = {
  factory: "mongoStore",
  client: { method: "db", is: "a MongoClient of mongodb" },
  schemes: ["mongodb://", "mongodb+srv://"],
  config: "new MongoClient(config.url, config) of mongodb",
  options: {
    database: optional(databaseName),
    prefix: optional(prefixName, "turnkeep_"),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<MongoStoreOptions, keyof MongoConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: MongoStoreOptions): NormalOptions {
  const taken = takeStoreOptions(options, rules);
  const { url, config } = taken.connection;
  if (config !== undefined) takeStoreOptions({ url: config.url ?? "" }, rules);
  const { database = databaseOf(url ?? config?.url) ?? "turnkeep" } = taken;
  databaseName("database", database);
  return { ...taken, database };
}

/** The path of a URL. A connection string with several hosts is not a valid URL, so it is not parsed as one. */
function databaseOf(url: string | undefined): string | undefined {
  const path = /^[^:]+:\/\/[^/]*\/([^?]+)/.exec(url ?? "")?.[1];
  // Then the slash belongs to the password, which no driver can read and no error may show.
  if (path?.includes("@"))
    throw invalidOption("url cannot be read: percent-encode its user and password (not shown)");
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    throw invalidOption("url cannot be read: its database is not percent-encoded (not shown)");
  }
}
