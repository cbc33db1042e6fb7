import { randomUUID } from "node:crypto";
import type { ChatMemoryStore } from "@turnkeep/core";
import { expectAppendsToLand, expectWholeUpdates, message, messages, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { redisStore } from "../src/index.ts";
import { newPrefix, recording } from "./support.ts";

for (const [name, url] of [
  ["Redis", inject("redisUrl")],
  ["Valkey", inject("valkeyUrl")],
] as const) {
  describe(name, () => {
    const prefix = newPrefix();
    let redis: Redis;
    let one: ChatMemoryStore;
    let other: ChatMemoryStore;

    beforeAll(() => {
      redis = new Redis(url);
      one = redisStore({ url, prefix });
      other = redisStore({ url, prefix });
    });
    afterAll(async () => {
      await Promise.all([one.close(), other.close()]);
      redis.disconnect();
    });

    const index = (): Promise<string[]> => redis.zrange(`${prefix}index:{index}:all`, "0", "-1");

    test("64 concurrent optimistic appends by two clients all land, once and in one order", async () => {
      const memoryId = randomUUID();
      await expectAppendsToLand(one, other, memoryId, 64);
      // Those who lost the beginning have left nothing behind.
      expect((await index()).filter((entry) => entry.startsWith(`${memoryId}\0`))).toHaveLength(1);
    });

    test("of many who begin an expired memory anew, one does, and nothing of the old life shows", async () => {
      const memoryId = randomUUID();
      const short = redisStore({ url, prefix, ttlMs: 1 });
      await short.updateMessages(
        memoryId,
        update(null, 4, { head: "1", owner: "old", append: messages(1, 3) }),
      );
      while ((await one.getMessages(memoryId)).version !== null);
      const again = { ...message(1), id: "new life" };
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
        ),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
      expect(await other.getMessages(memoryId)).not.toHaveProperty("owner");
      expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
      expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
      expect((await index()).filter((entry) => entry.startsWith(`${memoryId}\0`))).toHaveLength(1);
      await short.close();
    });

    test("a sweep leaves an entry alone whose memory is about to begin", async () => {
      const memoryId = randomUUID();
      let swept: unknown;
      const client = recording(redis);
      const slow = redisStore({
        prefix,
        client: {
          async call(command, args) {
            const answer = await client.call(command, args);
            swept ??= await other.sweep();
            return answer;
          },
        },
      });
      await slow.updateMessages(memoryId, update(null, 2, { owner: memoryId, append: [message(1)] }));
      expect(swept).toEqual({ removed: 0 });
      expect((await one.listMemories({ owner: memoryId })).memories).toHaveLength(1);
    });

    test("a sweep takes off entries that no memory has answered for an hour", async () => {
      const memoryId = randomUUID();
      const abandoned = redisStore({
        prefix,
        client: {
          async call(command, args) {
            await redis.call(command, args);
            throw new Error("The process ended here");
          },
        },
      });
      await abandoned.updateMessages(memoryId, update(null, 2, { owner: memoryId })).catch(() => {});
      const [entry = ""] = (await index()).filter((member) => member.startsWith(`${memoryId}\0`));
      expect(entry).not.toBe("");
      expect((await one.listMemories({ owner: memoryId })).memories).toEqual([]);
      expect(await one.sweep()).toEqual({ removed: 0 });
      const twoHoursAgo = (Date.now() - 2 * 60 * 60 * 1000) * 1000;
      await redis.zadd(`${prefix}index:{index}:all`, twoHoursAgo, entry);
      expect(await one.sweep()).toEqual({ removed: 1 });
      expect(await index()).not.toContain(entry);
      const ofOwner = `${prefix}index:{index}:owner:${Buffer.from(memoryId).toString("base64url")}`;
      expect(await redis.exists(ofOwner)).toBe(0);
    });

    test("readers meet all of an update or none", () =>
      expectWholeUpdates(one, other, { updates: 100, to: "evicted" }));
  });
}
