import { describeConformance } from "@turnkeep/conformance/vitest";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, beforeAll, inject } from "vitest";
import { redisStore } from "../src/index.ts";
import { newPrefix, rawRead } from "./support.ts";

const servers = [
  { name: "Redis", url: inject("redisUrl") },
  { name: "Valkey", url: inject("valkeyUrl") },
];

for (const { name, url } of servers) {
  const prefix = newPrefix();
  let watcher: Redis;
  let older: Redis5;
  beforeAll(() => {
    watcher = new Redis(url);
    older = new Redis5(url);
  });
  afterAll(() => {
    watcher.disconnect();
    older.disconnect();
  });

  describeConformance(`${name}, by a url`, {
    create: ({ ttlMs }) => redisStore({ url, prefix, ttlMs }),
    rawRead: (memoryId) => rawRead(watcher, prefix, memoryId),
  });

  describeConformance(`${name}, by one client of ioredis 5 that all stores share`, {
    create: ({ ttlMs }) => redisStore({ client: older, prefix, ttlMs }),
    rawRead: (memoryId) => rawRead(watcher, prefix, memoryId),
  });
}
