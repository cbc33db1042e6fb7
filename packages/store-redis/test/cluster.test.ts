import { describeConformance } from "@turnkeep/conformance/vitest";
import { type RedisCluster, startRedisCluster } from "@turnkeep/servers";
import { message, messages, update } from "@turnkeep/store-tests";
import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "../src/index.ts";
import { writeThrough } from "./failover.ts";
import { dying, newPrefix, rawRead, rawRemove, rawWrite, recording } from "./support.ts";

describe("a cluster of three masters with a replica each", () => {
  const prefix = newPrefix();
  let servers: RedisCluster;
  let cluster: Cluster;

  beforeAll(async () => {
    servers = await startRedisCluster();
    cluster = new Cluster(servers.nodes.map(({ url }) => url));
    cluster.on("error", () => {});
  });
  afterAll(async () => {
    cluster.disconnect();
    await servers.stop();
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
      const slots = await Promise.all(ofMemory.map((key) => cluster.cluster("KEYSLOT", String(key))));
      expect(new Set(slots).size).toBe(1);
      expect((await store.listMemories({ owner: memoryId })).memories).toHaveLength(1);
      await store.deleteMessages(memoryId);
    },
  );

  describeConformance("Redis Cluster", {
    create: ({ ttlMs }) => redisStore({ client: cluster, prefix, ttlMs }),
    rawRead: (memoryId) => rawRead(cluster, prefix, memoryId),
    rawWrite: (memoryId, texts) => rawWrite(cluster, prefix, memoryId, texts),
    rawRemove: (memoryId, index) => rawRemove(cluster, prefix, memoryId, index),
    fault: ({ step }) => redisStore({ client: dying(cluster, step), prefix }),
    given: () => ({
      store: redisStore({ client: cluster, prefix }),
      isOpen: () => cluster.status === "ready",
    }),
  });

  test("a master is killed in the middle of writes: no update is ever half there, and writing goes on", async () => {
    const store = redisStore({ client: cluster, prefix });
    const memoryIds = Array.from({ length: 6 }, (_, index) => `failover ${index}`);
    // The listing lies on the master that is killed.
    const takenOver = async (): Promise<void> => {
      while (!(await store.listMemories({ limit: 1 }).then(Boolean, () => false)));
    };
    let kill = (): void => {};
    const killed = new Promise<void>((resolve, reject) => {
      kill = () => servers.killMaster(`${prefix}index:{index}:all`).then(() => resolve(takenOver()), reject);
    });
    const writers = memoryIds.map((memoryId) => writeThrough(store, memoryId, 20, killed));
    while ((await store.getMessages("failover 0")).nextSeq < 60);
    kill();
    await Promise.all(writers);
    const listed = await store.listMemories({});
    expect(listed.memories.map(({ memoryId }) => memoryId)).toEqual(expect.arrayContaining(memoryIds));
    await store.updateMessages("begun after", update(null, 2, { owner: "after", append: [message(1)] }));
    expect((await store.listMemories({ owner: "after" })).memories).toHaveLength(1);
  }, 120_000);
});
