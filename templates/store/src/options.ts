import {
  type Fields,
  invalidOption,
  nameText,
  optional,
  show,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import type { SqliteClient } from "./client.ts";

/** Where the database is: a client of yours, an address, or a driver's configuration; one of them. */
export type SqliteConnection =
  | {
      /**
       * A `DatabaseSync` of `@photostructure/sqlite` or of `node:sqlite` (from Node 22.16). The store never closes it
       * and leaves its settings alone. It must not be inside a transaction of yours.
       */
      readonly client: SqliteClient;
      readonly url?: undefined;
      readonly config?: undefined;
    }
  | {
      /** `file:chat.db` or `file:///var/lib/chat.db`. The store opens the file at its first call and closes it. */
      readonly url: string;
      readonly client?: undefined;
      readonly config?: undefined;
    }
  | {
      /** A path, and what else `new DatabaseSync(path, options)` of `@photostructure/sqlite` takes. */
      readonly config: { readonly path: string; readonly [option: string]: unknown };
      readonly client?: undefined;
      readonly url?: undefined;
    };

/** Options of `sqliteStore`. */
export type SqliteStoreOptions = SqliteConnection & {
  /** What the names of tables and indexes begin with. Default `"turnkeep_"`. SQLite holds `a` and `A` for the same. */
  readonly prefix?: string | undefined;
  /** A memory untouched by writes for so many milliseconds is gone, by the clock of the machine. Default: never. */
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
  client: { method: "prepare", is: "a DatabaseSync of @photostructure/sqlite or node:sqlite" },
  schemes: ["file:"],
  config: "new DatabaseSync(path, options)",
  options: {
    prefix: optional(
      nameText({ forbidden: /^sqlite_/i, rule: 'without "sqlite_" in front, which SQLite keeps for itself' }),
      "turnkeep_",
    ),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<SqliteStoreOptions, keyof SqliteConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function normalizeOptions(options: SqliteStoreOptions): NormalOptions {
  const taken = takeStoreOptions(options, rules);
  const { client, url, config } = taken.connection;
  if (client !== undefined && typeof client.location !== "function") {
    throw invalidOption("client must have a location method: node:sqlite has it from Node 22.16");
  }
  if (config !== undefined && (typeof config.path !== "string" || config.path === "")) {
    throw invalidOption(`config.path must be the path of a file, not ${show(config.path)}`);
  }
  const path = url ?? config?.path;
  if (path !== undefined && /^(?:file:)?:memory:|^file:.*[?&](?:mode=memory|vfs=memdb)/.test(path)) {
    throw invalidOption("A database in memory is one connection's: open it yourself and give it as client");
  }
  return taken;
}
