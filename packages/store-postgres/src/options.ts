import {
  type ConnectionOptions,
  type Fields,
  nameText,
  optional,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import type { PostgresClient } from "./client.ts";
import { longestSuffix } from "./migrations.ts";

/**
 * How to reach the database, one of:
 *
 * - `client`: a `Pool` or `Client` of `pg`, a `PGlite`, or anything with their `query`. A single `Client` runs one
 *   statement at a time; prefer a `Pool`. In a transaction of yours, the store writes with that transaction.
 * - `url`: `postgres://user:password@host:5432/database`; the store opens its own `Pool`.
 * - `config`: what `new Pool(config)` of `pg` takes; its `ssl` holds whatever `sslmode` the address asks for.
 * - `folder`: where an embedded Postgres, the package `@electric-sql/pglite`, keeps its data. The store opens it at its
 *   first call and closes it. It may be new. While it is open, no other process, nor another store of this one, can open
 *   it so: the calls of a second store are `STORE_REFUSED`.
 */
export type PostgresConnection =
  | (ConnectionOptions<PostgresClient> & { readonly folder?: undefined })
  | {
      /**
       * The folder of an embedded Postgres. `undefined`, as a variable of the environment may be, is `INVALID_OPTION`.
       */
      readonly folder: string | undefined;
      readonly client?: undefined;
      readonly url?: undefined;
      readonly config?: undefined;
    };

/** Options of `postgresStore`: one of `client`, `url`, `config` and `folder` (see {@link PostgresConnection}), and these. */
export type PostgresStoreOptions = PostgresConnection & {
  /** The schema of the tables. Default `"public"`. Any name works: it is always quoted. */
  readonly schema?: string | undefined;
  /** The prefix of table and index names. Default `"turnkeep_"`. Any text works: it is always quoted. */
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
  readonly connection: PostgresConnection;
  readonly schema: string;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
}

/** Postgres silently truncates longer identifiers, so that two prefixes could share a table. */
const maxIdentifierBytes = 63;

const rules = {
  factory: "postgresStore",
  client: { method: "query", is: "a Pool or Client of pg, or a PGlite" },
  schemes: ["postgres://", "postgresql://"],
  config: "new Pool(config) of pg",
  path: "folder",
  options: {
    schema: optional(
      nameText({ maxBytes: maxIdentifierBytes, ifEmpty: 'leave it out for "public"' }),
      "public",
    ),
    prefix: optional(nameText({ maxBytes: maxIdentifierBytes - longestSuffix }), "turnkeep_"),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<PostgresStoreOptions, keyof PostgresConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: PostgresStoreOptions): NormalOptions {
  return takeStoreOptions(options, rules);
}
