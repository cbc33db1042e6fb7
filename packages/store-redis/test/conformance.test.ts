import { describeConformance } from "@turnkeep/conformance/vitest";
import { partOfTheKit, serverGroups } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { scripts } from "../src/scripts.ts";
import { dying, newPrefix, rawRead, rawRemove, rawWrite, serverAccess } from "./support.ts";

const oldest = new ioredis5.default(inject("redis70Url"));
afterAll(() => oldest.disconnect());

const ofAnotherServer = partOfTheKit(serverGroups);

const servers = [
  { name: "Redis 8.2, by a url", url: inject("redisUrl") },
  { name: "Valkey 9.1, by a url", url: inject("valkeyUrl"), groups: ofAnotherServer },
  {
    name: "Redis 7.0, by one client of the oldest ioredis that all stores share",
    client: oldest,
    groups: ofAnotherServer,
  },
];

for (const { name, url = inject("redis70Url"), client, groups } of servers) {
  const prefix = newPrefix();
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(url);
  });
  afterAll(() => redis.disconnect());

  describeConformance(
    name,
    {
      create: (options) =>
        client === undefined
          ? redisStore({ url, prefix, ...options })
          : redisStore({ client, prefix, ...options }),
      rawRead: (memoryId) => rawRead(redis, prefix, memoryId),
      rawWrite: (memoryId, texts) => rawWrite(redis, prefix, memoryId, texts),
      rawRemove: (memoryId, index) => rawRemove(redis, prefix, memoryId, index),
      fault: (options) => redisStore({ client: dying(client ?? redis, options), prefix }),
      ...serverAccess({ url, prefix }, () => redis),
      given: () => ({
        store: redisStore({ client: client ?? redis, prefix }),
        isOpen: () =>
          (client ?? redis).ping().then(
            () => true,
            () => false,
          ),
      }),
    },
    { groups },
  );
}

describe("the general script alone", () => {
  const prefix = newPrefix();
  const redis = new Redis(inject("redisUrl"));
  afterAll(() => redis.disconnect());
  const client: RedisClient = {
    call: async (command, args) => (args[0] === scripts.plain.sha ? "other" : redis.call(command, args)),
  };

  // The same server: what may differ is what the lean script writes, the plain append.
  describeConformance(
    "does what the lean one does",
    { create: (options) => redisStore({ client, prefix, ...options }) },
    { groups: partOfTheKit(["basic", "order", "versions", "replay", "model"]) },
  );
});
