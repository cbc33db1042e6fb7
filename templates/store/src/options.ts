import {
  type ConnectionOptions,
  type Fields,
  invalidOption,
  nameText,
  optional,
  parseUrl,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import { longestSuffix } from "./migrations.ts";
import type { MariaDbPool } from "./pool.ts";

/**
 * Where the database is, one of:
 *
 * - `client`: a `Pool` of `mysql2/promise`. The store never closes it and leaves its settings alone.
 * - `url`: `mysql://user:password@host:3306/database`; the store opens a pool of its own at its first call.
 * - `config`: what `createPool(config)` of `mysql2/promise` takes.
 */
export type MariaDbSource = ConnectionOptions<MariaDbPool>;

/** Options of `mariaDbStore`: one of `client`, `url` and `config` (see {@link MariaDbSource}), and these. */
export type MariaDbStoreOptions = MariaDbSource & {
  /** What the names of tables begin with. Default `"turnkeep_"`. Any text works: it is always quoted. */
  readonly prefix?: string | undefined;
  /** A memory expires after so many milliseconds without a write, by the database's clock. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * How exactly the order `newest` knows a memory's last activity, in milliseconds: a write notes it if what is noted is
   * older. Default 60,000.
   */
  readonly activityMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: MariaDbSource;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
}

/** In characters, of which only those of three bytes or fewer may be in a name. */
const maxIdentifier = 64;

const rules = {
  factory: "mariaDbStore",
  client: { method: "getConnection", is: "a Pool of mysql2/promise" },
  schemes: ["mysql://", "mariadb://"],
  config: "createPool(config) of mysql2/promise",
  options: {
    prefix: optional(
      nameText({
        maxBytes: maxIdentifier - longestSuffix,
        forbidden: /[\u{10000}-\u{10ffff}]/u,
        rule: "without characters beyond U+FFFF, which names in MariaDB cannot have",
      }),
      "turnkeep_",
    ),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<MariaDbStoreOptions, keyof MariaDbSource>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function normalizeOptions(options: MariaDbStoreOptions): NormalOptions {
  const taken = takeStoreOptions(options, rules);
  const { client, url, config } = taken.connection;
  // The driver reads an address only when it connects, and its error would quote it, with the password.
  const address = url ?? (config as { readonly uri?: unknown } | undefined)?.uri;
  if (typeof address === "string") parseUrl(address);
  // The pool of `mysql2` itself calls back, and promises nothing.
  if (client !== undefined && "promise" in client) {
    throw invalidOption(
      "client must be a Pool of mysql2/promise: give pool.promise() of your Pool of mysql2",
    );
  }
  return taken;
}
