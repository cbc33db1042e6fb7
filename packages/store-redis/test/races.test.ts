import { randomUUID } from "node:crypto";
import type { ChatMemoryStore } from "@turnkeep/core";
import { expectAppendsToLand, expectWholeUpdates, message, messages, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { scripts } from "../src/scripts.ts";
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
      expect(await other.getMessages(memoryId)).toEqual({
        version: expect.any(String),
        nextSeq: 2,
        messages: [again],
      });
      expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
      expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
      const { memories } = await one.listMemories({ limit: 1_000 });
      expect(memories.filter((memory) => memory.memoryId === memoryId)).toHaveLength(1);
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
      for (const [minutes, removed] of [
        [50, 0],
        [70, 1],
      ] as const) {
        await redis.zadd(`${prefix}index:{index}:newest:all`, (Date.now() - minutes * 60_000) * 1000, entry);
        expect(await one.sweep()).toEqual({ removed });
      }
      expect(await index()).not.toContain(entry);
      const ofOwner = `owner:${Buffer.from(memoryId).toString("base64url")}`;
      for (const list of [ofOwner, `newest:${ofOwner}`])
        expect(await redis.exists(`${prefix}index:{index}:${list}`)).toBe(0);
    });

    test("a sweep leaves the entry of a memory alone that began long ago", async () => {
      const [memoryId, own] = [randomUUID(), newPrefix()];
      const store = redisStore({ client: redis, prefix: own });
      await store.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
      const all = `${own}index:{index}:newest:all`;
      const [entry = ""] = await redis.zrange(all, "0", "-1");
      await redis.zadd(
        all,
        (Date.now() - 2 * 60 * 60 * 1000) * 1000,
        entry,
        1_000_000,
        "no entry of a store",
      );
      expect(await store.sweep()).toEqual({ removed: 0 });
      expect((await store.listMemories({})).memories).toMatchObject([{ memoryId }]);
    });

    /** A client that hands each answer on as this says. */
    function answering(change: (sha: unknown, answer: unknown) => unknown): RedisClient {
      return {
        async call(command, args) {
          return change(args[0], await redis.call(command, args));
        },
      };
    }

    test("a memory that begins long after it was listed does not begin, and its entry goes", async () => {
      const memoryId = randomUUID();
      const elevenMinutes = 11 * 60 * 1_000_000;
      const client = answering((sha, answer) =>
        sha === scripts.enter.sha ? String(Number(answer) - elevenMinutes) : answer,
      );
      const begin = update(null, 2, { append: [message(1)] });
      await one.sweep();
      await expect(redisStore({ client, prefix }).updateMessages(memoryId, begin)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { message: expect.stringContaining("too late") },
      });
      expect((await one.getMessages(memoryId)).version).toBeNull();
      expect((await index()).filter((entry) => entry.startsWith(`${memoryId}\0`))).toEqual([]);
    });

    test.each(["at once", "after another write", "after it has expired"])(
      "a beginning that the driver sends twice, %s, keeps its entry",
      async (when) => {
        const [memoryId, owner] = [randomUUID(), randomUUID()];
        const ttlMs = when === "after it has expired" ? 1 : undefined;
        const begin = update(null, 2, { owner, append: [message(1)] });
        const client: RedisClient = {
          async call(command, args) {
            const answer = await redis.call(command, args);
            if (![scripts.begin.sha, scripts.begin.text].includes(String(args[0]))) return answer;
            // The answer is lost, and the driver sends the command again.
            if (when === "after another write") {
              await one.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
            }
            if (ttlMs !== undefined) while ((await one.getMessages(memoryId)).version !== null);
            return redis.call(command, args);
          },
        };
        const outcome = await redisStore({ client, prefix, ttlMs })
          .updateMessages(memoryId, begin)
          .catch((error: { code: string }) => error.code);
        // That it was refused does not say that it changed nothing.
        expect(outcome).toBe(when === "after another write" ? "STORE_UNAVAILABLE" : undefined);
        expect((await index()).filter((entry) => entry.startsWith(`${memoryId}\0`))).toHaveLength(1);
        if (ttlMs !== undefined) return;
        expect((await one.listMemories({ owner })).memories).toMatchObject([{ memoryId }]);
      },
    );

    test("a beginning is acknowledged though the entry of the life before stays, which shows nowhere", async () => {
      const memoryId = randomUUID();
      const short = redisStore({ url, prefix, ttlMs: 1 });
      await short.updateMessages(memoryId, update(null, 2, { owner: memoryId, append: [message(1)] }));
      await short.close();
      while ((await one.getMessages(memoryId)).version !== null);
      const client: RedisClient = {
        async call(command, args) {
          if (args[0] === scripts.leave.sha) throw new Error("The connection broke here");
          return redis.call(command, args);
        },
      };
      const again = update(null, 2, { owner: memoryId, append: [message(1, '"new life"')] });
      await redisStore({ client, prefix }).updateMessages(memoryId, again);
      expect((await one.getMessages(memoryId)).messages).toEqual([message(1, '"new life"')]);
      expect((await index()).filter((entry) => entry.startsWith(`${memoryId}\0`))).toHaveLength(2);
      for (const owner of [memoryId, undefined]) {
        const { memories } = await one.listMemories({ owner, limit: 1_000 });
        expect(memories.filter((memory) => memory.memoryId === memoryId)).toHaveLength(1);
      }
    });

    test("a clock that goes back lists no memory before those that are listed", async () => {
      const [ahead, later] = [randomUUID(), randomUUID()];
      const owner = randomUUID();
      const begin = (memoryId: string): Promise<void> =>
        one.updateMessages(memoryId, update(null, 2, { owner, append: [message(1)] }));
      await begin(ahead);
      const inAnHour = String((Date.now() + 60 * 60 * 1_000) * 1_000);
      const ofOwner = `${prefix}index:{index}:owner:${Buffer.from(owner).toString("base64url")}`;
      const [entry = ""] = await redis.zrange(ofOwner, "0", "-1");
      expect(await redis.get(`${prefix}index:{index}:last`)).toBe(await redis.zscore(ofOwner, entry));
      await redis.zadd(ofOwner, inAnHour, entry);
      await redis.set(`${prefix}index:{index}:last`, inAnHour);
      await begin(later);
      const first = await one.listMemories({ owner, limit: 1 });
      expect(first.memories).toMatchObject([{ memoryId: ahead }]);
      const { memories } = await one.listMemories({ owner, cursor: first.cursor });
      expect(memories).toMatchObject([{ memoryId: later }]);
      await redis.del(`${prefix}index:{index}:last`);
    });

    test("what has expired takes a listing no more trips, and a sweep removes all of it", async () => {
      const [owner, own] = [randomUUID(), newPrefix()];
      const short = redisStore({ client: redis, prefix: own, ttlMs: 1 });
      const client = recording(redis);
      const store = redisStore({ client, prefix: own });
      for (let n = 1; n <= 250; n++) {
        await short.updateMessages(`expires ${n}`, update(null, 2, { owner, append: [message(1)] }));
      }
      await store.updateMessages("stays", update(null, 2, { owner, append: [message(1)] }));
      while ((await store.getMessages("expires 250")).version !== null);
      const { memories } = await store.listMemories({ owner, limit: 1 });
      expect(memories).toMatchObject([{ memoryId: "stays" }]);
      expect(client.commands.filter(({ args }) => args[0] === scripts.page.sha)).toHaveLength(3);
      // Their keys have gone by themselves; what is listed of them goes an hour after they began.
      const all = `${own}index:{index}:all`;
      const newest = `${own}index:{index}:newest:all`;
      const anHourAgo = (Date.now() - 60 * 60_000) * 1_000;
      for (const [at, entry] of (await redis.zrange(all, "0", "-1")).entries()) {
        await redis.zadd(newest, anHourAgo - 1_000 + at, entry);
      }
      expect(await store.sweep()).toEqual({ removed: 250 });
      for (const list of [all, newest]) expect(await redis.zcard(list)).toBe(1);
    });

    test("readers meet all of an update or none", () =>
      expectWholeUpdates(one, other, { updates: 100, to: "evicted" }));
  });
}
