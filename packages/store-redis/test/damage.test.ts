import type { ChatMemoryStore, StoredMessage } from "@turnkeep/core";
import { type RedisServer, startRedis } from "@turnkeep/servers";
import { failure, message, messages, said, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { scripts } from "../src/scripts.ts";
import { keysOf, newPrefix } from "./support.ts";

/** As a store answers for a message that it cannot read. */
function unreadable(seq: number, id: string): StoredMessage {
  return { id, seq, createdAt: 0, payload: "" };
}

describe.each([
  ["Redis", inject("redisUrl")],
  ["Valkey", inject("valkeyUrl")],
])("%s", (_name, url) => {
  const prefix = newPrefix();
  let redis: Redis;
  let store: ChatMemoryStore;

  beforeAll(() => {
    redis = new Redis(url);
    store = redisStore({ client: redis, prefix });
  });
  afterAll(() => redis.disconnect());

  async function keyOf(memoryId: string, name: string): Promise<string> {
    return (await keysOf(redis, prefix, memoryId)).find((key) => key.endsWith(`:${name}`)) ?? "";
  }

  test.each([
    ["removed", undefined],
    ["no record", "private words"],
    ["empty", ""],
    ["without a time", "\0m2\0\0{}"],
    ["of a wrong time", "1.5\0m2\0\0{}"],
    ["cut off", "1\0m2\0{}"],
    ["with another's id", "x\0another\0\0{}"],
  ])(
    "a record that is %s hides no other, and its message can be removed or replaced",
    async (what, damaged) => {
      for (const how of ["remove", "replace", "evict"] as const) {
        const memoryId = `${what} ${how}`;
        const begin = update(null, 5, { append: messages(1, 4), move: [{ seq: 1, to: "evicted" }] });
        await store.updateMessages(memoryId, begin);
        const key = await keyOf(memoryId, "head");
        if (damaged === undefined) await redis.hdel(key, "2");
        else await redis.hset(key, "2", damaged);
        expect((await store.getMessages(memoryId)).messages).toEqual([
          unreadable(2, message(2).id),
          message(3),
          message(4),
        ]);
        const history = (await store.getHistory(memoryId, {})).messages;
        expect(history.map(({ id, state, payload }) => [id, state, payload !== ""])).toEqual([
          [message(1).id, "evicted", true],
          [message(2).id, "live", false],
          [message(3).id, "live", true],
          [message(4).id, "live", true],
        ]);
        expect((await store.getHistory(memoryId, { ids: [message(2).id] })).messages).toHaveLength(1);
        // Others are added meanwhile.
        const add = update(begin.version, 6, { append: [message(5)] });
        await store.updateMessages(memoryId, add);
        const mended = message(2, '"mended"');
        const change = {
          remove: { move: [{ seq: 2, to: "removed" as const }] },
          replace: { replace: [mended] },
          evict: { append: [message(6)], move: [{ seq: 2, to: "evicted" as const }] },
        }[how];
        await store.updateMessages(memoryId, update(add.version, 7, change));
        const others = how === "evict" ? messages(3, 6) : messages(3, 5);
        expect((await store.getMessages(memoryId)).messages).toEqual(
          how === "replace" ? [mended, ...others] : others,
        );
        const found = (await store.getHistory(memoryId, { ids: [message(2).id] })).messages;
        expect(found).toHaveLength(how === "remove" ? 0 : 1);
      }
    },
  );

  test("a message whose id is lost too goes by its place, and can be replaced and removed", async () => {
    const begin = update(null, 4, { append: messages(1, 3) });
    await store.updateMessages("no id", begin);
    await redis.hdel(await keyOf("no id", "head"), "2");
    await redis.hdel(await keyOf("no id", "ids"), message(2).id);
    const [, lost] = (await store.getMessages("no id")).messages;
    expect(lost).toEqual(unreadable(2, "turnkeep:lost:2"));
    const mended = { ...message(2), id: "turnkeep:lost:2" };
    const replace = update(begin.version, 4, { replace: [mended] });
    await store.updateMessages("no id", replace);
    expect((await store.getMessages("no id")).messages).toEqual([message(1), mended, message(3)]);
    expect((await store.getHistory("no id", { ids: [mended.id] })).messages).toHaveLength(1);
    const remove = update(replace.version, 4, { move: [{ seq: 2, to: "removed" }] });
    await store.updateMessages("no id", remove);
    expect((await store.getMessages("no id")).messages).toEqual([message(1), message(3)]);
  });

  test("a replacement under an id that another message has is refused, also where that record is lost", async () => {
    const begin = update(null, 4, { append: messages(1, 3) });
    await store.updateMessages("wrong id", begin);
    await redis.hdel(await keyOf("wrong id", "head"), "2");
    const replace = update(begin.version, 4, { replace: [{ ...message(2), id: message(3).id }] });
    await expect(store.updateMessages("wrong id", replace)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("a message that is lost is told from a seq that was passed over", async () => {
    const begin = update(null, 5, { append: [message(1), message(3), message(4)] });
    await store.updateMessages("passed", begin);
    const next = update(begin.version, 9, { append: [message(7)] });
    await store.updateMessages("passed", next);
    await redis.hdel(await keyOf("passed", "head"), "3");
    const left = [message(1), unreadable(3, message(3).id), message(4), message(7)];
    expect((await store.getMessages("passed")).messages).toEqual(left);
    const moves = [2, 5, 6, 8].map((seq) => update(next.version, 9, { move: [{ seq, to: "removed" }] }));
    for (const move of moves) {
      await expect(store.updateMessages("passed", move)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
    const remove = update(next.version, 9, { move: [{ seq: 3, to: "removed" }] });
    await store.updateMessages("passed", remove);
    expect((await store.getMessages("passed")).messages).toEqual([message(1), message(4), message(7)]);
  });

  test("a damaged memory that is written to between two steps of a read is read again", async () => {
    const begin = update(null, 3, { append: messages(1, 2) });
    await store.updateMessages("between", begin);
    await redis.hset(await keyOf("between", "head"), "1", "damaged");
    const add = update(begin.version, 4, { append: [message(3)] });
    let isAdded = false;
    const client: RedisClient = {
      async call(command, args) {
        if (args[0] === scripts.history.sha && !isAdded) {
          isAdded = true;
          await store.updateMessages("between", add);
        }
        return redis.call(command, args);
      },
    };
    expect(await redisStore({ client, prefix }).getMessages("between")).toEqual({
      ...{ version: add.version, nextSeq: 4 },
      messages: [unreadable(1, message(1).id), message(2), message(3)],
    });
  });

  /** What a server evicts. */
  describe.each([
    ["its head", (memoryId: string) => lose(memoryId, "head")],
    ["all but its records", (memoryId: string) => lose(memoryId, "head", "ids", "states")],
    ["all but its ids", (memoryId: string) => lose(memoryId, "head", "messages", "states")],
  ])("a memory that has lost %s", (what, damage) => {
    const memoryId = `lost ${what}`;

    test("is CORRUPT_RECORD, never empty or shorter, and can be deleted and begun anew", async () => {
      const begin = update(null, 5, {
        owner: "o",
        append: messages(1, 4).map((one) => ({ ...one, payload: '"private words"' })),
        move: [{ seq: 1, to: "evicted" }],
      });
      await store.updateMessages(memoryId, begin);
      await damage(memoryId);
      const calls = [
        () => store.getMessages(memoryId),
        () => store.getHistory(memoryId, {}),
        () => store.getHistory(memoryId, { ids: ["m1"] }),
      ];
      for (const call of calls) {
        const error = await failure(call);
        expect(error).toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId } });
        expect(said(error)).not.toContain("private words");
      }
      const again = update(null, 2, { append: [message(1)] });
      await expect(store.updateMessages(memoryId, again)).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
      await store.deleteMessages(memoryId, { expected: begin.version });
      expect(await keysOf(redis, prefix, memoryId)).toEqual([]);
      await store.updateMessages(memoryId, again);
      expect((await store.getMessages(memoryId)).messages).toEqual([message(1)]);
    });
  });

  test.each([
    ["states", {}],
    ["states", { ids: [message(1).id] }],
    ["ids", { ids: [message(1).id] }],
  ])("a history that has lost its %s is CORRUPT_RECORD by %j, never shorter", async (name, query) => {
    const memoryId = `history ${name} ${JSON.stringify(query)}`;
    const begin = update(null, 4, { append: messages(1, 3), move: [{ seq: 1, to: "evicted" }] });
    await store.updateMessages(memoryId, begin);
    await lose(memoryId, name);
    await expect(store.getHistory(memoryId, query)).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    expect((await store.getMessages(memoryId)).messages).toEqual(messages(2, 3));
    // What is added meanwhile does not make it whole.
    const add = update(begin.version, 5, { append: [message(4)], move: [{ seq: 2, to: "evicted" }] });
    await store.updateMessages(memoryId, add);
    await expect(store.getHistory(memoryId, query)).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
  });

  test("a history of whose states one is lost or damaged is CORRUPT_RECORD, never shorter", async () => {
    const move = [2, 3, 5].map((seq) => ({ seq, to: "evicted" as const }));
    for (const at of [0, 1]) {
      for (const damaged of [undefined, "damaged"]) {
        const memoryId = `state ${at} ${damaged}`;
        await store.updateMessages(memoryId, update(null, 7, { append: messages(1, 6), move }));
        const key = await keyOf(memoryId, "states");
        const [member = "", score = ""] = await redis.zrange(key, `${at}`, `${at}`, "WITHSCORES");
        await redis.zrem(key, member);
        if (damaged !== undefined) await redis.zadd(key, score, damaged);
        await expect(store.getHistory(memoryId, {})).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
        const [live] = (await store.getMessages(memoryId)).messages;
        expect(live).toEqual(message(1));
      }
    }
  });

  test("all records lost at once: each message is told, under its id", async () => {
    const move = [1, 2].map((seq) => ({ seq, to: "evicted" as const }));
    await store.updateMessages("records", update(null, 6, { append: messages(1, 5), move }));
    await lose("records", "messages");
    await redis.hdel(await keyOf("records", "head"), "3", "4", "5");
    const all = messages(1, 5).map(({ seq, id }) => unreadable(seq, id));
    expect((await store.getMessages("records")).messages).toEqual(all.slice(2));
    expect((await store.getHistory("records", {})).messages).toEqual(
      all.map((message, index) => ({ ...message, state: index < 2 ? "evicted" : "live" })),
    );
  });

  test("a head that counts fewer messages than are there is CORRUPT_RECORD", async () => {
    await store.updateMessages("fewer", update(null, 4, { append: messages(1, 3) }));
    await redis.hset(await keyOf("fewer", "head"), "count", "2");
    for (const call of [() => store.getMessages("fewer"), () => store.getHistory("fewer", {})]) {
      await expect(call()).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    }
  });

  test("every change counts: what is live is found again after any of them", async () => {
    let version: string | null = null;
    const changes: [Parameters<typeof update>[2], number[]][] = [
      [{ append: messages(1, 4), move: [{ seq: 1, to: "evicted" }] }, [2, 3, 4]],
      [{ append: [message(5)], move: [{ seq: 2, to: "evicted" }] }, [3, 4, 5]],
      [{ replace: [message(3, "1")], move: [{ seq: 3, to: "superseded" }] }, [4, 5]],
      [{ move: [2, 3].map((seq) => ({ seq, to: "live" as const })) }, [2, 3, 4, 5]],
      [{ move: [{ seq: 2, to: "live" }], replace: [message(4, "1")] }, [2, 3, 4, 5]],
      [{ append: [message(6)], move: [{ seq: 6, to: "superseded" }] }, [2, 3, 4, 5]],
      [{ move: [2, 3, 4, 5].map((seq) => ({ seq, to: "removed" as const })) }, []],
      [{ append: [message(7)] }, [7]],
    ];
    for (const [change, live] of changes) {
      const next = update(version, 10, change);
      if ((change?.append?.[0]?.seq ?? 0) > 0) next.nextSeq = (change?.append?.at(-1)?.seq ?? 0) + 1;
      else next.nextSeq = (await store.getMessages("counts")).nextSeq;
      await store.updateMessages("counts", next);
      version = next.version;
      expect((await store.getMessages("counts")).messages.map(({ seq }) => seq)).toEqual(live);
      await store.getHistory("counts", {});
    }
  });

  async function lose(memoryId: string, ...names: string[]): Promise<void> {
    const keys = await keysOf(redis, prefix, memoryId);
    await redis.del(...keys.filter((key) => names.some((name) => key.endsWith(`:${name}`))));
  }
});

describe("a delete that expects a version", () => {
  const redis = new Redis(inject("redisUrl"));
  const prefix = newPrefix();
  const store = redisStore({ client: redis, prefix });
  afterAll(() => redis.disconnect());

  test("deletes that version and no other, and none that is not there", async () => {
    const begin = update(null, 2, { owner: "o", append: [message(1)] });
    await store.updateMessages("a", begin);
    const next = update(begin.version, 3, { append: [message(2)] });
    await store.updateMessages("a", next);
    await expect(store.deleteMessages("a", { expected: begin.version })).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect((await store.getMessages("a")).messages).toEqual(messages(1, 2));
    expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(1);
    await store.deleteMessages("a", { expected: next.version });
    await store.deleteMessages("a", { expected: next.version });
    expect((await store.listMemories({ owner: "o" })).memories).toEqual([]);
    expect(await keysOf(redis, prefix, "a")).toEqual([]);
  });

  test("meets a write between its two steps", async () => {
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("b", begin);
    const client: RedisClient = {
      async call(command, args) {
        if (args[0] === scripts.remove.sha) {
          await store.updateMessages("b", update(begin.version, 3, { append: [message(2)] }));
        }
        return redis.call(command, args);
      },
    };
    const late = redisStore({ client, prefix });
    await expect(late.deleteMessages("b", { expected: begin.version })).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect((await store.getMessages("b")).messages).toEqual(messages(1, 2));
  });
});

describe("a server that makes room by itself", () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis({ sources: ["machine", "cache"] });
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  async function allow(policy: string, bytes: number): Promise<void> {
    await redis.flushall();
    const used = Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
    await redis.config("SET", "maxmemory-policy", policy);
    await redis.config("SET", "maxmemory", bytes === 0 ? "0" : String(used + bytes));
  }

  /** What the first reads of a store have to say. */
  async function warnings(options: { ttlMs?: number; client?: RedisClient } = {}): Promise<unknown[]> {
    const store = redisStore({ client: redis, prefix: newPrefix(), ...options });
    const told: unknown[] = [];
    for (let n = 0; n < 5; n++) told.push((await store.getMessages("none")).warning);
    return told.filter((one) => one !== undefined);
  }

  test.each([
    ["allkeys-lru", 4_000_000, undefined, 1],
    ["allkeys-random", 4_000_000, 60_000, 1],
    ["volatile-lru", 4_000_000, 60_000, 1],
    ["volatile-lru", 4_000_000, undefined, 0],
    ["noeviction", 4_000_000, 60_000, 0],
    ["allkeys-lru", 0, 60_000, 0],
  ])("%s with %i bytes and ttlMs %s: so many warnings: %s", async (policy, bytes, ttlMs, count) => {
    await allow(policy, bytes);
    const told = await warnings(ttlMs === undefined ? {} : { ttlMs });
    expect(told).toEqual(
      Array.from({ length: count }, () => ({
        code: "eviction",
        message: expect.stringMatching(`${policy}.*noeviction`),
      })),
    );
  });

  test("is asked again if nobody answered the first time", async () => {
    await allow("allkeys-lru", 4_000_000);
    let isAway = true;
    const client: RedisClient = {
      async call(command, args) {
        if (isAway) throw new Error("nobody is there");
        return redis.call(command, args);
      },
    };
    const store = redisStore({ client, prefix: newPrefix() });
    await expect(store.getMessages("none")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    isAway = false;
    const told: unknown[] = [];
    for (let n = 0; n < 3; n++) told.push((await store.getMessages("none")).warning?.code);
    expect(told.filter((code) => code !== undefined)).toEqual(["eviction"]);
  });

  test("one that may not be asked, or says nothing, serves as any other", async () => {
    await allow("allkeys-lru", 4_000_000);
    await redis.call("ACL", ["SETUSER", "blind", "on", ">s3cret", "~*", "+@all", "-info"]);
    const blind = new Redis(server.url, { username: "blind", password: "s3cret", enableReadyCheck: false });
    onTestFinished(() => blind.disconnect());
    expect(await warnings({ client: blind })).toEqual([]);
  });

  test("what it evicts shows as CORRUPT_RECORD or as an unreadable message, never as a shorter conversation", async () => {
    await allow("allkeys-random", 3_000_000);
    const store = redisStore({ client: redis, prefix: newPrefix() });
    const begin = (n: number): Promise<void> =>
      store.updateMessages(
        `m${n}`,
        update(null, 11, {
          append: messages(1, 10).map((one) => ({ ...one, payload: `"${"x".repeat(1_000)}"` })),
        }),
      );
    const evictedKeys = async (): Promise<number> =>
      Number(/evicted_keys:(\d+)/.exec(await redis.info("stats"))?.[1]);
    let count = 0;
    while ((await evictedKeys()) < 500) await begin(count++);
    const outcomes = { whole: 0, absent: 0, told: 0 };
    for (let n = 0; n < count; n++) {
      const read = await store.getMessages(`m${n}`).catch((error: { code: string }) => error.code);
      if (typeof read === "string") {
        expect(read).toBe("CORRUPT_RECORD");
        outcomes.told++;
      } else if (read.version === null) outcomes.absent++;
      else {
        expect(read.messages).toHaveLength(10);
        outcomes[read.messages.every(({ payload }) => payload !== "") ? "whole" : "told"]++;
      }
    }
    expect(outcomes.told).toBeGreaterThan(50);
    // Of these nothing that was said is left.
    for (let n = 0; n < count; n++) {
      const keys = await redis.keys(`*memory:{${Buffer.from(`m${n}`).toString("base64url")}}:*`);
      const read = await store.getMessages(`m${n}`).catch(() => undefined);
      if (read?.version === null) expect(keys.filter((key) => /:(head|messages)$/.test(key))).toEqual([]);
    }
  }, 120_000);
});
