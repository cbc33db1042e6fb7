// What the declaration below adds to.
import type {} from "vitest";
import type { TestProject } from "vitest/node";
import { startRedis } from "./redis.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the Redis server that `@turnkeep/servers/vitest-redis` started for this package. */
    redisUrl: string;
    /** The address of the Valkey server beside it. */
    valkeyUrl: string;
  }
}

/**
 * A `globalSetup` of vitest: one Redis and one Valkey for a package's tests. A test file gets their addresses with
 * `inject("redisUrl")` and `inject("valkeyUrl")`, and keeps to keys with a prefix of its own.
 *
 * @example
 * ```ts
 * import { defineConfig } from "vitest/config";
 *
 * export default defineConfig({ test: { globalSetup: ["@turnkeep/servers/vitest-redis"] } });
 * ```
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = await Promise.allSettled([
    startRedis({ engine: "redis" }),
    startRedis({ engine: "valkey" }),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.status === "fulfilled" && server.value.stop()));
  };
  const [redis, valkey] = started;
  if (redis.status === "rejected" || valkey.status === "rejected") {
    await stop();
    throw redis.status === "rejected" ? redis.reason : (valkey as PromiseRejectedResult).reason;
  }
  project.provide("redisUrl", redis.value.url);
  project.provide("valkeyUrl", valkey.value.url);
  return stop;
}
