import {
  type ConnectionOptions,
  type ConnectionRules,
  checkConnection,
  checkOptionText,
  checkTtl,
  invalidOption,
} from "@turnkeep/core/store-kit";
import type { PostgresClient } from "./client.ts";
import { longestSuffix } from "./migrations.ts";

/**
 * Where the database is, one of:
 *
 * - `client`: a `Pool` or `Client` of `pg`, a `PGlite`, or anything with their `query`. A single `Client` runs one
 *   statement at a time and must not be inside a transaction of yours; prefer a `Pool`.
 * - `url`: `postgres://user:password@host:5432/database`, for a `Pool` of the store's own.
 * - `config`: what `new Pool(config)` of `pg` takes.
 */
export type PostgresConnection = ConnectionOptions<PostgresClient>;

/** Options of `postgresStore`: one of `client`, `url` and `config`, see {@link PostgresConnection}, and these. */
export type PostgresStoreOptions = PostgresConnection & {
  /** The schema of the tables. Default `"public"`. Any name: it is always quoted. */
  readonly schema?: string | undefined;
  /** What the names of tables and indexes begin with. Default `"turnkeep_"`. Any text: it is always quoted. */
  readonly prefix?: string | undefined;
  /** A memory untouched by writes for so many milliseconds is gone, by the database's clock. Default: never. */
  readonly ttlMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: PostgresConnection;
  readonly schema: string;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
}

/** Postgres cuts longer identifiers off without an error, so that two prefixes could share a table. */
const maxIdentifierBytes = 63;

const connectionRules: ConnectionRules = {
  factory: "postgresStore",
  client: { method: "query", is: "a Pool or Client of pg, or a PGlite" },
  schemes: ["postgres://", "postgresql://"],
  config: "new Pool(config) of pg",
  options: ["schema", "prefix", "ttlMs"],
};

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function normalizeOptions(options: PostgresStoreOptions): NormalOptions {
  checkConnection(options, connectionRules);
  const { schema = "public", prefix = "turnkeep_", ttlMs } = options;
  checkOptionText("schema", schema, { maxBytes: maxIdentifierBytes });
  if (schema === "") throw invalidOption('schema must not be empty: leave it out for "public"');
  checkOptionText("prefix", prefix, { maxBytes: maxIdentifierBytes - longestSuffix });
  checkTtl(ttlMs);
  return { connection: options, schema, prefix, ttlMs };
}
