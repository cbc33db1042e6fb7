import {
  type ConnectionRules,
  checkConnection,
  checkTtl,
  invalidOption,
  show,
  utf8Length,
} from "@turnkeep/core/store-kit";
import type { PostgresClient } from "./client.ts";
import { longestSuffix } from "./migrations.ts";

/** Where the database is: a client of yours, an address, or a driver's configuration; one of them. */
export type PostgresConnection =
  | {
      /**
       * A `Pool` or `Client` of `pg`, a `PGlite`, or anything with their `query`. The store never closes it. A single
       * `Client` runs one statement at a time and must not be inside a transaction of yours; prefer a `Pool`.
       */
      readonly client: PostgresClient;
      readonly url?: undefined;
      readonly config?: undefined;
    }
  | {
      /** `postgres://user:password@host:5432/database`. The store opens a `pg` pool at its first call and closes it. */
      readonly url: string;
      readonly client?: undefined;
      readonly config?: undefined;
    }
  | {
      /** What `new Pool(config)` of `pg` takes. The store opens that pool at its first call and closes it. */
      readonly config: object;
      readonly client?: undefined;
      readonly url?: undefined;
    };

/** Options of `postgresStore`. */
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
};

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function normalizeOptions(options: PostgresStoreOptions): NormalOptions {
  checkConnection(options, connectionRules);
  const { schema = "public", prefix = "turnkeep_", ttlMs } = options;
  checkIdentifier("schema", schema, maxIdentifierBytes);
  if (schema === "") throw invalidOption('schema must not be empty: leave it out for "public"');
  checkIdentifier("prefix", prefix, maxIdentifierBytes - longestSuffix);
  checkTtl(ttlMs);
  return { connection: options, schema, prefix, ttlMs };
}

function checkIdentifier(option: string, value: string, maxBytes: number): void {
  if (typeof value !== "string") throw invalidOption(`${option} must be a string, not ${show(value)}`);
  if (/\0|\p{Surrogate}/u.test(value)) {
    throw invalidOption(`${option} must be well-formed Unicode without U+0000, not ${show(value)}`);
  }
  const bytes = utf8Length(value);
  if (bytes > maxBytes) {
    throw invalidOption(`${option} must not exceed ${maxBytes} UTF-8 bytes, but ${show(value)} has ${bytes}`);
  }
}
