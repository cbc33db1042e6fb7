import {
  type ConnectionOptions,
  type ConnectionRules,
  checkConnection,
  checkInteger,
  checkObject,
  checkOptionText,
  checkTtl,
  invalidOption,
  parseUrl,
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
   * Waits with `WAIT` after each write until this many replicas have it. If fewer have it in time, the call is
   * `STORE_UNAVAILABLE`, although the master has the write. Other calls on the connection wait meanwhile. Default: the
   * master alone.
   */
  readonly waitReplicas?: WaitReplicas | undefined;
};

const connectionRules: ConnectionRules = {
  factory: "redisStore",
  client: { method: "call", is: "a client of ioredis or node-redis, or an object" },
  schemes: ["redis://", "rediss://"],
  config: "new Redis(config) of ioredis",
  options: ["prefix", "ttlMs", "waitReplicas"],
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(
  options: RedisStoreOptions,
): RedisStoreOptions & { readonly prefix: string } {
  // The check knows of one kind of client.
  const isOther = isNodeRedis(options?.client);
  checkConnection(isOther ? { ...options, client: { call: (): void => {} } } : options, connectionRules);
  if (options.url !== undefined) checkDatabase(parseUrl(options.url).url);
  const { prefix = "turnkeep:", ttlMs, waitReplicas } = options;
  checkOptionText("prefix", prefix, { forbidden: /[{}]/, rule: "without braces" });
  checkTtl(ttlMs);
  if (waitReplicas !== undefined) checkReplicas(waitReplicas, options.client);
  return { ...options, prefix, waitReplicas: waitReplicas && { ...waitReplicas } };
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

function checkReplicas(waitReplicas: WaitReplicas, client: RedisStoreOptions["client"]): void {
  checkObject("waitReplicas", waitReplicas, ["count", "timeoutMs"]);
  checkInteger("waitReplicas.count", waitReplicas.count, 1);
  // With a time of 0, Redis would wait forever.
  checkInteger("waitReplicas.timeoutMs", waitReplicas.timeoutMs, 1);
  // A pool of node-redis has `totalClients`.
  if (client !== undefined && (("isCluster" in client && client.isCluster) || "totalClients" in client)) {
    throw invalidOption(
      "waitReplicas needs one connection to one master: a cluster's client, or a pool, sends WAIT on any",
    );
  }
}
