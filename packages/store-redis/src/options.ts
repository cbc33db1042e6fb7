import {
  type ConnectionOptions,
  type Fields,
  integer,
  invalidOption,
  nameText,
  optional,
  parseUrl,
  takeOptions,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import { isNodeRedis, type NodeRedisClient, type RedisClient } from "./drivers.ts";

/**
 * How to reach the database, one of:
 *
 * - `client`: a `Redis` or `Cluster` of `ioredis`, a connected client of `node-redis`, or anything with the `call` of a
 *   {@link RedisClient}. Create a `Redis` with `autoResendUnfulfilledCommands: false` and `maxRetriesPerRequest: 0`.
 *   Without the first, the driver sends a write whose answer was lost once more, and what others wrote meanwhile refuses
 *   it: the store cannot tell whether the first took place (`STORE_UNAVAILABLE`). With the first alone, the driver never
 *   answers a call whose connection broke.
 * - `url`: `redis://user:password@host:6379/0`, or `rediss://` for TLS.
 * - `config`: what `new Redis(config)` of `ioredis` takes.
 */
export type RedisConnection = ConnectionOptions<RedisClient | NodeRedisClient>;

/** How many replicas must have a write before it is acknowledged, and how long the store waits for them. */
export interface WaitReplicas {
  readonly count: number;
  readonly timeoutMs: number;
}

/** Options of `redisStore`: one of `client`, `url` and `config` (see {@link RedisConnection}), and these. */
export type RedisStoreOptions = RedisConnection & {
  /** The prefix of all keys. Default `"turnkeep:"`. Any text without braces, which would choose a hash slot. */
  readonly prefix?: string | undefined;
  /** A memory expires after this many milliseconds without a write, by the database's clock. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * How exactly the order `newest` knows a memory's last activity, in milliseconds: a write notes it if what is noted is
   * older. Default 60,000.
   */
  readonly activityMs?: number | undefined;
  /**
   * Waits with `WAIT` after each write until this many replicas have it. If fewer have it in time, the call is
   * `STORE_UNAVAILABLE`, although the master has the write; the same if the connection broke before they answered. Other
   * calls on the connection wait meanwhile. Default: the master alone.
   */
  readonly waitReplicas?: WaitReplicas | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
  readonly waitReplicas: WaitReplicas | undefined;
}

export const defaultActivityMs = 60_000;

// With a time of 0, Redis would wait forever.
const replicaFields = { count: integer(1), timeoutMs: integer(1) } satisfies Fields<WaitReplicas>;

const rules = {
  factory: "redisStore",
  client: {
    method: "call",
    is: "a client of ioredis or node-redis, or an object",
    isOther: isNodeRedis,
  },
  schemes: ["redis://", "rediss://"],
  config: "new Redis(config) of ioredis",
  options: {
    prefix: optional(nameText({ forbidden: /[{}]/, rule: "without braces" }), "turnkeep:"),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, defaultActivityMs),
    waitReplicas: optional(),
  } satisfies Fields<Omit<RedisStoreOptions, keyof RedisConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: RedisStoreOptions): NormalOptions {
  const taken = takeStoreOptions(options, rules);
  const { url, client } = taken.connection;
  if (url !== undefined) checkDatabase(parseUrl(url).url);
  if (taken.waitReplicas === undefined) return taken;
  const waitReplicas = takeOptions("waitReplicas", replicaFields, taken.waitReplicas, "waitReplicas.");
  checkOneMaster(client);
  return { ...taken, waitReplicas };
}

/** The driver would take anything that is not a number for database 0. */
function checkDatabase({ pathname, searchParams }: URL): void {
  for (const database of [pathname.slice(1), searchParams.get("db") ?? ""]) {
    if (!/^\d*\/?$/.test(database)) {
      throw invalidOption(
        "url must name its database by a number, as in redis://host:6379/0 (not shown: it may hold a password)",
      );
    }
  }
}

function checkOneMaster(client: RedisConnection["client"]): void {
  // A pool of node-redis has `totalClients`.
  if (client !== undefined && (("isCluster" in client && client.isCluster) || "totalClients" in client)) {
    throw invalidOption(
      "waitReplicas needs one connection to one master: a cluster's client, or a pool, sends WAIT on any",
    );
  }
}
