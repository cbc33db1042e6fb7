import { describeConformance } from "@turnkeep/conformance/vitest";
import { type RedisServer, startRedis } from "@turnkeep/servers";
import { message, messages, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "../src/index.ts";
import { newPrefix, rawRead, recording } from "./support.ts";

/** A cluster refuses what names keys of several slots, also where one server has all of them. */
describe("a cluster", () => {
  const prefix = newPrefix();
  let server: RedisServer;
  let cluster: InstanceType<typeof Redis.Cluster>;
  let node: Redis;

  beforeAll(async () => {
    server = await startRedis({ cluster: true });
    cluster = new Redis.Cluster([server.url]);
    node = new Redis(server.url);
  });
  afterAll(async () => {
    cluster.disconnect();
    node.disconnect();
    await server.stop();
  });

  test.each(["{a}", "}{", "a{b}c{d}", "{}", "{", "*", "memory:{x}:head", "é🙂"])(
    "all keys of %j lie in one slot",
    async (memoryId) => {
      const client = recording(cluster);
      const store = redisStore({ client, prefix });
      const begin = update(null, 4, { owner: memoryId, append: messages(1, 3) });
      await store.updateMessages(memoryId, begin);
      const move = [
        { seq: 1, to: "evicted" as const },
        { seq: 2, to: "superseded" as const },
      ];
      await store.updateMessages(memoryId, update(begin.version, 4, { move }));
      expect((await store.getMessages(memoryId)).messages).toEqual([message(3)]);
      expect((await store.getHistory(memoryId, {})).messages).toHaveLength(3);
      const ofMemory = client.commands
        .flatMap(({ args }) => args.slice(2, 2 + Number(args[1])))
        .filter((key) => String(key).startsWith(`${prefix}memory:`));
      const slots = await Promise.all(ofMemory.map((key) => node.cluster("KEYSLOT", String(key))));
      expect(new Set(slots).size).toBe(1);
      expect((await store.listMemories({ owner: memoryId })).memories).toHaveLength(1);
      await store.deleteMessages(memoryId);
    },
  );

  describeConformance("a cluster of one Redis", {
    create: ({ ttlMs }) => redisStore({ client: cluster, prefix, ttlMs }),
    rawRead: (memoryId) => rawRead(node, prefix, memoryId),
  });
});
