import {
  type Fields,
  invalidOption,
  nameText,
  optional,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import { isClient, type SqliteClient } from "./drivers.ts";

/**
 * Where the database is, one of:
 *
 * - `client`: a database of `node:sqlite`, `better-sqlite3` or `libsql`, a client of `@libsql/client`, a D1 database, or the
 *   storage of a Durable Object. It must not be in a transaction of yours.
 * - `file`: the path of a file that the store opens with `node:sqlite` at its first call and closes. It may be new.
 */
export type SqliteConnection =
  | {
      /** Your own client. The store never closes it, and leaves its settings alone. */
      readonly client: SqliteClient;
      readonly file?: undefined;
    }
  | {
      /** The path of a file. `undefined`, as a variable of the environment may be, is `INVALID_OPTION`. */
      readonly file: string | undefined;
      readonly client?: undefined;
    };

/** Options of `sqliteStore`: one of `client` and `file` (see {@link SqliteConnection}), and these. */
export type SqliteStoreOptions = SqliteConnection & {
  /**
   * The prefix of table and index names. Default `"turnkeep_"`. Any text works: it is always quoted. To SQLite, `a` and `A`
   * are the same.
   */
  readonly prefix?: string | undefined;
  /** A memory expires after this many milliseconds without a write, by the clock of SQLite's machine. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * How exactly the order `newest` knows a memory's last activity, in milliseconds: a write notes it if what is noted is
   * older. Default 60,000.
   */
  readonly activityMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: SqliteConnection;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
}

const rules = {
  factory: "sqliteStore",
  client: {
    method: "batch",
    is: "a database of node:sqlite, better-sqlite3, libsql or D1, a client of @libsql/client, or a Durable Object's storage",
    isOther: isClient,
  },
  path: "file",
  options: {
    prefix: optional(
      nameText({
        forbidden: /^(?:sqlite_|_cf_)/i,
        rule: "without sqlite_ or _cf_ in front, which are reserved",
      }),
      "turnkeep_",
    ),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<SqliteStoreOptions, keyof SqliteConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: SqliteStoreOptions): NormalOptions {
  const taken = takeStoreOptions(options, rules);
  const { file } = taken.connection;
  if (file !== undefined && /^(?:file:)?:memory:|^file:.*[?&](?:mode=memory|vfs=memdb)/.test(file)) {
    throw invalidOption("file must not be in memory: open such a database yourself, and give it as client");
  }
  return taken;
}
