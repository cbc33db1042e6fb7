import type { MemoryUpdate } from "@turnkeep/core";
import {
  begin,
  change,
  expectOneOwner,
  idsOf,
  message,
  messages,
  newestOf,
  pagedIdsOf,
  update,
} from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { scripts, scriptsOf } from "../src/scripts.ts";
import { keysOf, newPrefix, recording } from "./support.ts";

for (const [name, url] of [
  ["Redis", inject("redisUrl")],
  ["Valkey", inject("valkeyUrl")],
  ["Redis 7.0", inject("redis70Url")],
] as const) {
  describe(name, () => {
    let redis: Redis;
    let prefix: string;

    beforeAll(() => {
      redis = new Redis(url);
    });
    beforeEach(() => {
      prefix = newPrefix();
    });
    afterAll(() => redis.disconnect());

    const headOf = (memoryId: string): string =>
      `${prefix}memory:{${Buffer.from(memoryId).toString("base64url")}}:head`;

    /** As if the memory's activity had been noted so long ago. */
    async function age(memoryId: string, ms: number): Promise<void> {
      await redis.hset(headOf(memoryId), "active", String((Date.now() - ms) * 1_000));
    }

    /** As if all entries of a list had come into it so long ago. */
    async function ageList(list: string, ms: number): Promise<void> {
      const key = `${prefix}index:{index}:${list}`;
      for (const member of await redis.zrange(key, "0", "-1"))
        await redis.zadd(key, (Date.now() - ms) * 1_000, member);
    }

    /** The entries that all lists of the index hold, each list apart. */
    async function entries(memoryId: string): Promise<Record<string, number>> {
      const keys = (await redis.keys(`${prefix}index:*`)).filter((key) => !key.endsWith(":last"));
      const counts = keys.map(async (key) => {
        const members = await redis.zrange(key, "0", "-1");
        const name = key.slice(`${prefix}index:{index}:`.length);
        return [name, members.filter((member) => member.startsWith(`${memoryId}\0`)).length] as const;
      });
      return Object.fromEntries((await Promise.all(counts)).filter(([, count]) => count > 0));
    }

    const listOf = (owner: string): string => `owner:${Buffer.from(owner).toString("base64url")}`;

    /** What {@link entries} says of a memory that stands once wherever it belongs. */
    const onceFor = (owner: string): Record<string, number> =>
      Object.fromEntries(
        ["all", listOf(owner)].flatMap((list) => [
          [list, 1],
          [`newest:${list}`, 1],
        ]),
      );

    /** A client that does something of ours before, or after, the first call of a script. */
    function meanwhile(sha: string, place: "before" | "after", act: () => Promise<unknown>): RedisClient {
      let isDone = false;
      return {
        async call(command, args) {
          const isNow = !isDone && args[0] === sha;
          isDone ||= isNow;
          if (isNow && place === "before") await act();
          const answer = await redis.call(command, args);
          if (isNow && place === "after") await act();
          return answer;
        },
      };
    }

    const endingAt = (sha: string): RedisClient =>
      meanwhile(sha, "before", () => Promise.reject(new Error("The process ended here")));

    test("an append sends one command more once in activityMs, and what is newest follows at once", async () => {
      for (const script of Object.values(scripts)) await redis.script("LOAD", script.text);
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      for (const id of ["a", "b", "c"]) await begin(store, id, "o");
      const sent = async (memoryId: string, what?: Partial<MemoryUpdate>): Promise<unknown[]> => {
        const { version, nextSeq } = await store.getMessages(memoryId);
        client.commands.length = 0;
        const next = { append: [message(nextSeq)], ...what };
        await store.updateMessages(memoryId, update(version, nextSeq + 1, next));
        return client.commands.map(({ args }) => args[0]);
      };
      await age("a", 59_000);
      expect(await sent("a")).toEqual([scripts.plain.sha]);
      expect(await newestOf(store, { owner: "o" })).toEqual(["c", "b", "a"]);
      await age("a", 60_000);
      expect(await sent("a")).toEqual([scripts.plain.sha, scripts.note.sha]);
      for (const query of [{}, { owner: "o" }]) expect(await newestOf(store, query)).toEqual(["a", "c", "b"]);
      expect(await sent("a")).toEqual([scripts.plain.sha]);
      await age("b", 60_000);
      expect(await sent("b", { replace: [message(1, '"new"')] })).toEqual([
        scripts.change.sha,
        scripts.note.sha,
      ]);
      expect(await newestOf(store, { owner: "o" })).toEqual(["b", "a", "c"]);
      expect(await sent("b", { replace: [message(1, '"other"')] })).toEqual([scripts.change.sha]);
      expect(await idsOf(store, { owner: "o" })).toEqual(["a", "b", "c"]);
    });

    test("a shorter activityMs is a matter of the store, and of no byte that it sends", async () => {
      const store = redisStore({ client: redis, prefix });
      const client = recording(redis);
      const eager = redisStore({ client, prefix, activityMs: 2_000 });
      for (const id of ["a", "b"]) await begin(store, id);
      for (const [ms, newest] of [
        [1_000, "b"],
        [2_000, "a"],
      ] as const) {
        await age("a", ms);
        await change(eager, "a");
        expect(await newestOf(store)).toEqual([newest, newest === "a" ? "b" : "a"]);
      }
      client.commands.length = 0;
      await change(eager, "a");
      const [append] = client.commands.filter(({ args }) => args[0] === scriptsOf(2_000).plain.sha);
      expect(append?.args.map(String)).not.toContain("2000");
    });

    test("what stops before the activity is noted leaves the memory in its place, and in every list", async () => {
      const store = redisStore({ client: redis, prefix });
      for (const id of ["a", "b"]) await begin(store, id, "o");
      await age("a", 60_000);
      // The append is done, and says so.
      await change(redisStore({ client: endingAt(scripts.note.sha), prefix }), "a");
      expect(await newestOf(store, { owner: "o" })).toEqual(["b", "a"]);
      await age("a", 60_000);
      await change(store, "a");
      expect(await newestOf(store, { owner: "o" })).toEqual(["a", "b"]);
    });

    test("an activity that cannot be read, or was never noted, is noted with the next write", async () => {
      const store = redisStore({ client: redis, prefix });
      for (const id of ["a", "b"]) await begin(store, id, "o");
      await redis.hset(headOf("a"), "active", "private words");
      await change(store, "a");
      expect(await newestOf(store)).toEqual(["a", "b"]);
      await redis.hdel(headOf("b"), "active");
      for (const list of ["newest:all", `newest:${listOf("o")}`])
        await redis.del(`${prefix}index:{index}:${list}`);
      await change(store, "b");
      for (const query of [{}, { owner: "o" }]) expect(await newestOf(store, query)).toEqual(["b"]);
    });

    test("activity that is noted late lists no memory that is gone", async () => {
      const store = redisStore({ client: redis, prefix });
      await begin(store, "a", "o");
      await age("a", 60_000);
      const client = meanwhile(scripts.note.sha, "before", () => store.deleteMessages("a"));
      await change(redisStore({ client, prefix }), "a");
      expect(await entries("a")).toEqual({});
    });

    test("the newest come in pages, each memory once, while others begin and are written to", async () => {
      const store = redisStore({ client: redis, prefix, activityMs: 1 });
      const ids = Array.from({ length: 130 }, (_, index) => `m${index}`);
      await Promise.all(ids.map((id) => begin(store, id, "o")));
      const busy = ids.slice(0, 10);
      const found = await pagedIdsOf(store, { owner: "o", order: "newest", limit: 7 }, async (n) => {
        await change(store, busy[n % 10] ?? "");
        await begin(store, `later ${n}`, "o");
      });
      const quiet = ids.slice(10);
      expect(found.filter((id) => quiet.includes(id)).toSorted()).toEqual(quiet.toSorted());
    });

    test("a change of owner shows in both lists at once, keeps the place among all, and leaves no entry behind", async () => {
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      for (const id of ["a", "b", "c"]) await begin(store, id, id === "a" ? "guest" : "ann");
      const first = await store.listMemories({ limit: 1 });
      client.commands.length = 0;
      const version = await change(store, "a", { owner: "ann", data: '{"title":"A"}' });
      const { policy, read, peek, enter, assign, leave } = scripts;
      const shas = client.commands.filter(({ name }) => name === "evalsha").map(({ args }) => args[0]);
      expect(shas).toEqual([policy, read, peek, enter, assign, leave].map(({ sha }) => sha));
      expect(await store.getMessages("a")).toMatchObject({ version, owner: "ann", data: '{"title":"A"}' });
      expect(await idsOf(store, { owner: "guest" })).toEqual([]);
      expect(await newestOf(store, { owner: "guest" })).toEqual([]);
      expect(await idsOf(store, { owner: "ann" })).toEqual(["b", "c", "a"]);
      expect(await newestOf(store, { owner: "ann" })).toEqual(["a", "c", "b"]);
      expect(await newestOf(store)).toEqual(["a", "c", "b"]);
      expect(await idsOf(store)).toEqual(["a", "b", "c"]);
      expect(await idsOf(store, { cursor: first.cursor })).toEqual(["b", "c"]);
      expect((await store.listMemories({ owner: "ann", order: "newest" })).memories[0]).toMatchObject({
        ...{ memoryId: "a", owner: "ann", data: '{"title":"A"}' },
      });
      expect(await entries("a")).toEqual(onceFor("ann"));
      // To who has it already, it is a write as any other; and back again.
      client.commands.length = 0;
      await change(store, "a", { owner: "ann" });
      expect(await entries("a")).toEqual(onceFor("ann"));
      await change(store, "a", { owner: "guest" });
      expect(await idsOf(store, { owner: "guest" })).toEqual(["a"]);
      expect(await idsOf(store, { owner: "ann" })).toEqual(["b", "c"]);
      await store.deleteMessages("a");
      expect(await entries("a")).toEqual({});
    });

    test("of an append and a change of owner at once one is in place, and the lists follow it", async () => {
      const store = redisStore({ client: redis, prefix, activityMs: 1 });
      for (let round = 0; round < 25; round++) {
        const memoryId = `raced ${round}`;
        const owner = await expectOneOwner(store, memoryId);
        expect(await entries(memoryId)).toEqual(onceFor(owner));
      }
    });

    test("a list of all misses no memory whose owner changes while it looks", async () => {
      const store = redisStore({ client: redis, prefix });
      await begin(store, "a", "guest");
      const assign = () => change(store, "a", { owner: "ann" });
      for (const sha of [scripts.enter.sha, scripts.assign.sha, scripts.leave.sha]) {
        const looks: string[][] = [];
        const look = async () => void looks.push(await idsOf(store), await newestOf(store));
        const slow = redisStore({ client: meanwhile(sha, "after", look), prefix });
        await change(slow, "a", { owner: `after ${sha}` });
        expect(looks).toEqual([["a"], ["a"]]);
      }
      // Between the page of entries and the look at the first of them.
      const client = meanwhile(scripts.page.sha, "after", assign);
      expect(await idsOf(redisStore({ client, prefix }))).toEqual(["a"]);
    });

    test("a change of owner that stops half way shows whose the memory is, and a sweep clears the rest", async () => {
      const store = redisStore({ client: redis, prefix });
      for (const sha of [scripts.assign.sha, scripts.leave.sha]) {
        const memoryId = sha === scripts.assign.sha ? "before" : "after";
        await begin(store, memoryId, "guest");
        await change(redisStore({ client: endingAt(sha), prefix }), memoryId, { owner: "ann" }).catch(
          () => {},
        );
        const isAnns = memoryId === "after";
        expect(await idsOf(store, { owner: "ann" })).toEqual(isAnns ? ["after"] : []);
        expect(await idsOf(store, { owner: "guest" })).toEqual(["before"]);
        expect((await idsOf(store)).filter((id) => id === memoryId)).toEqual([memoryId]);
        expect((await entries(memoryId)).all).toBe(2);
        expect(await store.sweep()).toEqual({ removed: 0 });
        await ageList("newest:all", 70 * 60_000);
        expect(await store.sweep()).toEqual({ removed: 1 });
        const owner = isAnns ? "ann" : "guest";
        expect(await entries(memoryId)).toEqual(onceFor(owner));
      }
    });

    test("a sweep leaves the entry of a change of owner alone that is under way, however old the memory is", async () => {
      const store = redisStore({ client: redis, prefix });
      await begin(store, "a", "guest");
      for (const list of ["all", "newest:all"]) await ageList(list, 5 * 60 * 60_000);
      const client = meanwhile(scripts.enter.sha, "after", () => store.sweep());
      await change(redisStore({ client, prefix }), "a", { owner: "ann" });
      expect(await idsOf(store, { owner: "ann" })).toEqual(["a"]);
      expect(await idsOf(store)).toEqual(["a"]);
    });

    test("a change of owner that comes long after it was listed does not happen", async () => {
      const store = redisStore({ client: redis, prefix });
      await begin(store, "a", "guest");
      const elevenMinutes = 11 * 60 * 1_000_000;
      const client: RedisClient = {
        async call(command, args) {
          const answer = await redis.call(command, args);
          return args[0] === scripts.enter.sha ? String(Number(answer) - elevenMinutes) : answer;
        },
      };
      await expect(change(redisStore({ client, prefix }), "a", { owner: "ann" })).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      expect(await idsOf(store, { owner: "guest" })).toEqual(["a"]);
      expect((await entries("a")).all).toBe(1);
    });

    test.each(["at once", "after another write"])(
      "a change of owner that the driver sends twice, %s, keeps its entry",
      async (when) => {
        const store = redisStore({ client: redis, prefix });
        const expected = await begin(store, "a", "guest");
        const assign = update(expected, 4, { owner: "ann" });
        const client: RedisClient = {
          async call(command, args) {
            const answer = await redis.call(command, args);
            if (![scripts.assign.sha, scripts.assign.text].includes(String(args[0]))) return answer;
            if (when === "after another write") await change(store, "a");
            return redis.call(command, args);
          },
        };
        await redisStore({ client, prefix })
          .updateMessages("a", assign)
          .catch(() => {});
        expect(await idsOf(store, { owner: "ann" })).toEqual(["a"]);
        expect((await entries("a")).all).toBe(1);
        // Sent again by the application it changes nothing.
        if (when === "at once") await store.updateMessages("a", assign);
        expect((await entries("a")).all).toBe(1);
      },
    );

    test("a delete that meets a change of owner deletes, and leaves no entry", async () => {
      const store = redisStore({ client: redis, prefix });
      await begin(store, "a", "guest");
      const assign = () => change(store, "a", { owner: "ann" });
      await redisStore({ client: meanwhile(scripts.peek.sha, "after", assign), prefix }).deleteMessages("a");
      expect(await keysOf(redis, prefix, "a")).toEqual([]);
      expect(await entries("a")).toEqual({});
    });

    test("an update's own time to live comes before the store's: shorter, longer, never, then the store's", async () => {
      const store = redisStore({ client: redis, prefix, ttlMs: 100_000 });
      const lives = async (memoryId: string): Promise<number[]> =>
        Promise.all((await keysOf(redis, prefix, memoryId)).map((key) => redis.pttl(key)));
      await store.updateMessages("a", update(null, 4, { append: messages(1, 3), ttlMs: 200_000 }));
      for (const [ttlMs, least, most] of [
        [undefined, 90_000, 100_000],
        [10_000, 1, 10_000],
        [500_000, 400_000, 500_000],
        [null, -1, -1],
        [undefined, 90_000, 100_000],
      ] as const) {
        for (const move of [[], [{ seq: 1, to: "evicted" as const }]]) {
          await change(store, "a", { ttlMs, move });
          for (const left of await lives("a")) {
            expect(left).toBeGreaterThanOrEqual(least);
            expect(left).toBeLessThanOrEqual(most);
          }
        }
      }
      const forEver = redisStore({ client: redis, prefix });
      await change(forEver, "a", { ttlMs: 1 });
      while ((await forEver.getMessages("a")).version !== null);
      expect(await idsOf(forEver)).toEqual([]);
      expect(await newestOf(forEver)).toEqual([]);
    });
  });
}
