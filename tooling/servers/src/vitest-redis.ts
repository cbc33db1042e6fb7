// What the declaration below adds to.
import type {} from "vitest";
import type { TestProject } from "vitest/node";
import { startRedis } from "./redis.ts";
import type { RedisEngine } from "./redis-engines.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the Redis server that `@turnkeep/servers/vitest-redis` started for this package. */
    redisUrl: string;
    /** The address of the Redis 7.0 beside it. */
    redis70Url: string;
    /** The address of the Valkey server beside it. */
    valkeyUrl: string;
  }
}

/**
 * A `globalSetup` of vitest: one Redis, one Redis 7.0 and one Valkey for a package's tests. A test file gets their
 * addresses with `inject("redisUrl")`, `inject("redis70Url")` and `inject("valkeyUrl")`, and keeps to keys with a prefix
 * of its own.
 *
 * @example
 * ```ts
 * import { defineConfig } from "vitest/config";
 *
 * export default defineConfig({ test: { globalSetup: ["@turnkeep/servers/vitest-redis"] } });
 * ```
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keys = { redis: "redisUrl", "redis-7.0": "redis70Url", valkey: "valkeyUrl" } as const;
  const engines = Object.keys(keys) as RedisEngine[];
  const started = await Promise.allSettled(engines.map((engine) => startRedis({ engine })));
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.status === "fulfilled" && server.value.stop()));
  };
  for (const server of started) {
    if (server.status === "fulfilled") {
      project.provide(keys[server.value.engine], server.value.url);
      continue;
    }
    await stop();
    throw server.reason;
  }
  return stop;
}
