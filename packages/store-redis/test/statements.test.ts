import type { ChatMemoryStore } from "@turnkeep/core";
import { type RedisServer, startRedis } from "@turnkeep/servers";
import { failure, message, messages, said, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { scripts } from "../src/scripts.ts";
import { keysOf, monitored, newPrefix, rawRead, recording } from "./support.ts";

/** At its first read a store asks the server once for its policy. */
async function asked(store: ChatMemoryStore): Promise<void> {
  await store.getMessages("none");
}

for (const [name, engine] of [
  ["Redis", "redis"],
  ["Valkey", "valkey"],
] as const) {
  describe(name, () => {
    // Of its own: it forgets its scripts, which others would notice who count what they send, and tells all that it does.
    let server: RedisServer;
    let redis: Redis;
    const prefix = newPrefix();

    beforeAll(async () => {
      server = await startRedis({ engine, sources: ["machine", "cache"] });
      redis = new Redis(server.url);
    });
    afterAll(async () => {
      redis.disconnect();
      await server.stop();
    });

    test("a write, a read and a page of history are one round trip, a beginning two", async () => {
      for (const script of Object.values(scripts)) await redis.script("LOAD", script.text);
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      const { commands } = client;
      await asked(store);
      async function sent(call: () => Promise<unknown>): Promise<string[]> {
        commands.length = 0;
        await call();
        return commands.map((command) => command.name);
      }
      const begin = update(null, 4, { owner: "o", append: messages(1, 3) });
      expect(await sent(() => store.updateMessages("trips", begin))).toEqual(["evalsha", "evalsha"]);
      const append = update(begin.version, 5, {
        append: [message(4)],
        replace: [message(3, '"new"')],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "removed" },
        ],
      });
      expect(await sent(() => store.updateMessages("trips", append))).toEqual(["evalsha"]);
      expect(await sent(() => store.updateMessages("trips", append))).toEqual(["evalsha"]);
      const correct = update(append.version, 5, { replace: [{ ...message(1, '"new"'), state: "evicted" }] });
      expect(await sent(() => store.updateMessages("trips", correct))).toEqual(["evalsha"]);
      const refused = () => store.updateMessages("trips", update("other", 6)).catch(() => {});
      expect(await sent(refused)).toEqual(["evalsha"]);
      expect(await sent(() => store.getMessages("trips"))).toEqual(["evalsha"]);
      expect(await sent(() => store.getHistory("trips", { ids: ["m1", "m4"] }))).toEqual(["evalsha"]);
    });

    test("a page of the listing is one round trip, and one more that looks at its memories", async () => {
      for (const script of Object.values(scripts)) await redis.script("LOAD", script.text);
      const client = recording(redis);
      const store = redisStore({ client, prefix: newPrefix() });
      const ids = Array.from({ length: 120 }, (_, index) => `listed ${index}`);
      await Promise.all(ids.map((id) => store.updateMessages(id, update(null, 1))));
      client.commands.length = 0;
      expect((await store.listMemories({ limit: 119 })).memories).toHaveLength(119);
      const shas = client.commands.map(({ args }) => args[0]);
      expect(shas).toEqual([scripts.page.sha, ...ids.map(() => scripts.peek.sha)]);
    });

    test("a read by who knows the version looks at nothing but the head, in one round trip", async () => {
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      await asked(store);
      const begin = update(null, 2_001, { owner: "o", head: "{}", append: messages(1, 2_000) });
      await store.updateMessages("known", begin);
      // What is not there cannot have been looked at.
      const keys = await keysOf(redis, prefix, "known");
      await redis.del(...keys.filter((key) => !key.endsWith(":head")));
      client.commands.length = 0;
      const snapshot = await store.getMessages("known", { known: begin.version });
      expect(client.commands.map((command) => command.name)).toEqual(["evalsha"]);
      expect(snapshot).toEqual({
        ...{ version: begin.version, nextSeq: 2_001, owner: "o", head: "{}", messages: [], unchanged: true },
      });
    });

    test("neither an append nor a read carries more when the history has grown", async () => {
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      let version: string | null = null;
      for (let from = 1; from <= 20_001; from += 1000) {
        const change = update(version, from + 1000, {
          append: messages(from, from + 999),
          move: messages(from, from + 999).map(({ seq }) => ({ seq, to: "evicted" as const })),
        });
        await store.updateMessages("long", change);
        version = change.version;
      }
      client.commands.length = 0;
      const next = update(version, 21_002, { append: [message(21_001)] });
      await store.updateMessages("long", next);
      expect(JSON.stringify(client.commands[0]?.args.slice(1)).length).toBeLessThan(1_000);
      expect((await store.getMessages("long")).messages).toEqual([message(21_001)]);
      const page = await store.getHistory("long", { after: 20_998, limit: 2 });
      expect(page.messages.map(({ seq }) => seq)).toEqual([20_999, 21_000]);
      expect((await store.getHistory("long", { order: "descending", limit: 1 })).messages).toEqual([
        { ...message(21_001), state: "live" },
      ]);
    });

    test("neither an append nor a read sends or answers more bytes when the history has grown", async () => {
      const single = new Redis(server.url);
      for (const script of Object.values(scripts)) await single.script("LOAD", script.text);
      const store = redisStore({ client: single, prefix });
      await asked(store);
      async function bytes(call: () => Promise<unknown>): Promise<{ sent: number; received: number }> {
        const [written, read] = [single.stream.bytesWritten, single.stream.bytesRead];
        await call();
        return { sent: single.stream.bytesWritten - written, received: single.stream.bytesRead - read };
      }
      async function costs(length: number) {
        const memoryId = `of ${String(length).padStart(5)}`;
        const left = messages(1, length - 5).map(({ seq }) => ({ seq, to: "evicted" as const }));
        const begin = update(null, length + 1, { append: messages(1, length), move: left });
        await store.updateMessages(memoryId, begin);
        const move = [{ seq: length - 4, to: "evicted" as const }];
        const next = update(begin.version, length + 2, { append: [message(length + 1)], move });
        const plain = update(next.version, length + 3, { append: [message(length + 2)] });
        return {
          append: await bytes(() => store.updateMessages(memoryId, next)),
          plain: await bytes(() => store.updateMessages(memoryId, plain)),
          read: await bytes(() => store.getMessages(memoryId)),
          unchanged: await bytes(() => store.getMessages(memoryId, { known: plain.version })),
        };
      }
      const [small, large] = [await costs(10), await costs(5_000)];
      // Five messages' longer numbers and ids.
      for (const operation of ["append", "plain", "read", "unchanged"] as const) {
        expect(large[operation].sent - small[operation].sent).toBeLessThan(60);
        expect(large[operation].received - small[operation].received).toBeLessThan(60);
      }
      // Of these the keys' names have some 80 bytes each: four for an append that evicts, two for another,
      // three for a read.
      expect(small.append.sent + small.append.received).toBeLessThan(640);
      expect(small.plain.sent + small.plain.received).toBeLessThan(460);
      expect(small.read.sent).toBeLessThan(330);
      expect(small.unchanged.sent + small.unchanged.received).toBeLessThan(430);
      single.disconnect();
    });

    test("a payload is written when its message comes and when it leaves memory, and not with its other changes", async () => {
      const store = redisStore({ client: redis, prefix });
      const payload = '"a payload that is written"';
      const append = [message(1, payload), message(2), message(3)];
      const begin = update(null, 4, { append });
      const evict = update(begin.version, 5, { append: [message(4)], move: [{ seq: 1, to: "evicted" }] });
      const supersede = update(evict.version, 5, {
        move: [
          { seq: 1, to: "superseded" },
          { seq: 2, to: "evicted" },
          { seq: 3, to: "superseded" },
        ],
      });
      const remove = update(supersede.version, 5, { move: [{ seq: 3, to: "removed" }] });
      const back = update(remove.version, 5, { move: [{ seq: 1, to: "live" }] });
      async function written(change: typeof begin): Promise<string[]> {
        const commands = await monitored(redis, () => store.updateMessages("moves", change));
        // The script's own call has the payload too.
        return commands
          .filter(([name, key]) => !/^eval/i.test(name ?? "") && key?.startsWith(prefix))
          .map(String);
      }
      for (const [change, times] of [
        [begin, 1],
        [evict, 1],
        [supersede, 0],
        [remove, 0],
        [back, 1],
      ] as const) {
        const commands = await written(change);
        expect(commands.filter((command) => command.includes(payload))).toHaveLength(times);
      }
      expect((await store.getHistory("moves", {})).messages.map(({ seq, state }) => [seq, state])).toEqual([
        [1, "live"],
        [2, "evicted"],
        [4, "live"],
      ]);
    });

    test("an append is one write of the head and one of the ids, and looks at nothing else", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 4, { append: messages(1, 3), move: [{ seq: 1, to: "evicted" }] });
      await store.updateMessages("append", begin);
      const add = update(begin.version, 6, { append: messages(4, 5) });
      await redis.script("LOAD", scripts.plain.text);
      const commands = await monitored(redis, () => store.updateMessages("append", add));
      expect(commands.map(([name]) => name?.toLowerCase())).toEqual([
        ...["evalsha", "hmget", "time", "hset", "hset", "echo"],
      ]);
    });

    test("what is evicted in runs, in any order, is one run of states", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 11, { append: messages(1, 10) });
      await store.updateMessages("runs", begin);
      let { version } = begin;
      const key = `${prefix}memory:{${Buffer.from("runs").toString("base64url")}}:states`;
      const runs = async (): Promise<string[]> => {
        const all = await redis.zrange(key, "0", "-1", "WITHSCORES");
        return all.flatMap((run, index) => (index % 2 === 0 ? [`${run} ${all[index + 1]}`] : []));
      };
      for (const [seqs, states] of [
        [[3, 4], ["3:evicted 4"]],
        [[6], ["3:evicted 4", "6:evicted 6"]],
        [[5], ["3:evicted 6"]],
        [
          [10, 2],
          ["2:evicted 6", "10:evicted 10"],
        ],
        [[7, 8, 9, 1], ["1:evicted 10"]],
      ] as const) {
        const evict = update(version, 11, { move: seqs.map((seq) => ({ seq, to: "evicted" as const })) });
        await store.updateMessages("runs", evict);
        version = evict.version;
        expect(await runs()).toEqual(states);
      }
      const back = update(version, 11, { move: [3, 4].map((seq) => ({ seq, to: "live" as const })) });
      await store.updateMessages("runs", back);
      expect((await store.getMessages("runs")).messages).toEqual(messages(3, 4));
      expect(await runs()).toEqual(["1:evicted 2", "5:evicted 10"]);
      const all = messages(1, 10).map((message) => ({
        ...message,
        state: [3, 4].includes(message.seq) ? "live" : "evicted",
      }));
      expect((await store.getHistory("runs", {})).messages).toEqual(all);
      expect((await store.getHistory("runs", { order: "descending", before: 9, limit: 6 })).messages).toEqual(
        all.slice(2, 8).reverse(),
      );
    });

    test("a first read is two plain commands, sent at once; what may lag behind is read by a script", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 4, { owner: "o", head: "{}", append: messages(1, 3) });
      await store.updateMessages("plainly", begin);
      const spied = vi.spyOn(redis, "call");
      onTestFinished(() => spied.mockRestore());
      await asked(store);
      const sent = async (call: () => Promise<unknown>): Promise<unknown[]> => {
        spied.mockClear();
        await call();
        return spied.mock.calls.map(([name]) => name);
      };
      const whole = { version: begin.version, nextSeq: 4, owner: "o", head: "{}", messages: messages(1, 3) };
      expect(await store.getMessages("plainly")).toEqual(whole);
      expect(await sent(() => store.getMessages("plainly"))).toEqual(["hgetall", "exists"]);
      expect(await sent(() => store.getMessages("absent"))).toEqual(["hgetall", "exists"]);
      expect(await sent(() => store.getMessages("plainly", { known: "earlier" }))).toEqual(["evalsha"]);
      const lagging = recording(redis);
      const other = redisStore({ client: lagging, prefix });
      await asked(other);
      lagging.commands.length = 0;
      expect(await other.getMessages("plainly")).toEqual(whole);
      expect(lagging.commands.map(({ name }) => name)).toEqual(["evalsha"]);
      const options = { ...redis.options, scaleReads: "slave" };
      const scaled: RedisClient = Object.assign(Object.create(redis), { options });
      const fromReplicas = redisStore({ client: scaled, prefix });
      await asked(fromReplicas);
      expect(await sent(() => fromReplicas.getMessages("plainly"))).toEqual(["evalsha"]);
      // One that begins between the two is not taken for what is left of another.
      const begins: RedisClient = Object.assign(Object.create(redis), {
        async call(command: string, args: (string | number)[]) {
          const answer = await redis.call(command, args);
          if (command === "hgetall")
            await store.updateMessages("just", update(null, 2, { append: [message(1)] }));
          return command === "exists" ? redis.call(command, args) : answer;
        },
      });
      spied.mockClear();
      const answers = await redisStore({ client: begins, prefix }).getMessages("just");
      expect([[], [message(1)]]).toContainEqual(answers.messages);
    });

    test("the lean script leaves alone what it is not for, and the general one does it", async () => {
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      const begin = update(null, 4, { append: messages(1, 3), move: [{ seq: 1, to: "superseded" }] });
      await store.updateMessages("other", begin);
      const change = update(begin.version, 5, {
        append: [message(4)],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "evicted" },
        ],
      });
      client.commands.length = 0;
      await store.updateMessages("other", change);
      const sent = client.commands.filter(({ name }) => name === "evalsha").map(({ args }) => args[0]);
      expect(sent).toEqual([scripts.plain.sha, scripts.change.sha]);
      expect((await store.getMessages("other")).messages).toEqual(messages(3, 4));
      expect((await store.getHistory("other", { states: ["evicted"] })).messages).toEqual(
        messages(1, 2).map((message) => ({ ...message, state: "evicted" })),
      );
    });

    test("thousands of messages are appended, evicted and read at once", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 2, { append: [message(1)] });
      await store.updateMessages("crowd", begin);
      const append = update(begin.version, 12_001, { append: messages(2, 12_000) });
      await store.updateMessages("crowd", append);
      expect((await store.getMessages("crowd")).messages).toEqual(messages(1, 12_000));
      let { version } = append;
      // As many as the lean script takes, then more than a function of Lua would.
      for (const [from, to] of [
        [1, 2_000],
        [2_001, 7_000],
      ] as const) {
        const move = messages(from, to).map(({ seq }) => ({ seq, to: "evicted" as const }));
        const evict = update(version, 12_001, { move });
        await store.updateMessages("crowd", evict);
        version = evict.version;
        expect((await store.getMessages("crowd")).messages).toEqual(messages(to + 1, 12_000));
      }
      const page = await store.getHistory("crowd", { states: ["evicted"], after: 6_000, limit: 1_000 });
      expect(page).toEqual({
        messages: messages(6_001, 7_000).map((message) => ({ ...message, state: "evicted" })),
        hasMore: false,
      });
    });

    test("thousands of messages change in one update", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 12_001, { append: messages(1, 12_000) });
      await store.updateMessages("many", begin);
      const move = messages(1, 12_000).map(({ seq }) => ({ seq, to: "superseded" as const }));
      const wrong = update(begin.version, 12_003, { move: [...move, { seq: 12_002, to: "evicted" }] });
      await expect(store.updateMessages("many", wrong)).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining("12002"),
      });
      expect((await store.getMessages("many")).messages).toHaveLength(12_000);
      await store.updateMessages("many", update(begin.version, 12_001, { move }));
      expect((await store.getMessages("many")).messages).toEqual([]);
    });

    test("sequence numbers keep their last digit", async () => {
      const store = redisStore({ client: redis, prefix });
      const last = Number.MAX_SAFE_INTEGER - 1;
      const append = [last - 2, last - 1].map((seq) => ({ ...message(seq), createdAt: 0 }));
      const begin = update(null, last, { append });
      await store.updateMessages("far", begin);
      await store.updateMessages(
        "far",
        update(begin.version, last, { move: [{ seq: last - 2, to: "evicted" }] }),
      );
      expect(await store.getMessages("far")).toMatchObject({ nextSeq: last, messages: [append[1]] });
      const page = await store.getHistory("far", { after: last - 2 });
      expect(page.messages).toEqual([{ ...append[1], state: "live" }]);
    });

    test("a script that the server has forgotten is sent again", async () => {
      const client = recording(redis);
      const store = redisStore({ client, prefix });
      await asked(store);
      const begin = update(null, 2, { append: [message(1)] });
      await store.updateMessages("flush", begin);
      await redis.script("FLUSH");
      client.commands.length = 0;
      await store.updateMessages("flush", update(begin.version, 3, { append: [message(2)] }));
      expect((await store.getMessages("flush")).messages).toEqual(messages(1, 2));
      await store.getMessages("flush");
      expect(client.commands.map((command) => command.name)).toEqual([
        ...["evalsha", "eval"],
        ...["evalsha", "eval"],
        "evalsha",
      ]);
    });

    test("every write waits for replicas, one that was in place and a delete too", async () => {
      const client = recording(redis);
      const waitReplicas = { count: 1, timeoutMs: 1 };
      const store = redisStore({ client, prefix, waitReplicas });
      // What was checked is what counts.
      waitReplicas.timeoutMs = 0;
      const begin = update(null, 3, { append: messages(1, 2) });
      const append = update(begin.version, 4, { append: [message(3)] });
      const replace = update(append.version, 4, { replace: [message(3, '"new"')] });
      const writes = [begin, begin, append, append, replace, replace].map(
        (change) => () => store.updateMessages("waits", change),
      );
      for (const write of [...writes, () => store.deleteMessages("waits")]) {
        client.commands.length = 0;
        // There is no replica.
        await expect(write()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        expect(client.commands.at(-1)).toEqual({ name: "wait", args: [1, 1] });
      }
      expect((await store.getMessages("waits")).version).toBeNull();
    });

    test("fewer replicas than were asked for are too few", async () => {
      const client: RedisClient = {
        call: async (command, args) => (command === "wait" ? 1 : redis.call(command, args)),
      };
      const store = redisStore({ client, prefix, waitReplicas: { count: 2, timeoutMs: 1 } });
      await expect(store.updateMessages("few", update(null, 1))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { message: expect.stringContaining("only 1 of 2 replicas") },
      });
    });

    test("a memory begins after a write was waited for that found nothing, where the index was lost", async () => {
      const own = newPrefix();
      const waiting = redisStore({ client: redis, prefix: own, waitReplicas: { count: 1, timeoutMs: 1 } });
      await expect(waiting.deleteMessages("none")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      const begin = update(null, 2, { append: [message(1)] });
      await redisStore({ client: redis, prefix: own }).updateMessages("first", begin);
    });

    test("a delete leaves nothing, also where the head was lost", async () => {
      const store = redisStore({ client: redis, prefix });
      for (const losesHead of [false, true]) {
        const begin = update(null, 3, { owner: "o", append: messages(1, 2) });
        await store.updateMessages("gone", begin);
        if (losesHead) {
          await redis.del((await keysOf(redis, prefix, "gone")).filter((key) => key.endsWith("head")));
        }
        await store.deleteMessages("gone");
        expect(await keysOf(redis, prefix, "gone")).toEqual([]);
        if (!losesHead) expect(await rawRead(redis, prefix, "gone")).toEqual([]);
      }
    });

    test("a delete that comes late does not meet the next life", async () => {
      const store = redisStore({ client: redis, prefix });
      await store.updateMessages("late", update(null, 2, { append: [message(1)] }));
      let replaced = false;
      const slow = redisStore({
        prefix,
        client: {
          async call(command, args) {
            const answer = await redis.call(command, args);
            if (!replaced) {
              replaced = true;
              await store.deleteMessages("late");
              await store.updateMessages("late", update(null, 2, { append: [message(1, '"next life"')] }));
            }
            return answer;
          },
        },
      });
      await slow.deleteMessages("late");
      expect((await store.getMessages("late")).messages).toEqual([message(1, '"next life"')]);
    });

    test("a write by a store without ttlMs ends the expiry", async () => {
      const begin = update(null, 3, { append: messages(1, 2) });
      await redisStore({ client: redis, prefix, ttlMs: 3_600_000 }).updateMessages("lifted", begin);
      const key = (await keysOf(redis, prefix, "lifted")).find((name) => name.endsWith("head")) ?? "";
      expect(await redis.hget(key, "expires")).toMatch(/^\d{13}$/);
      const append = update(begin.version, 4, { append: [message(3)] });
      await redisStore({ client: redis, prefix }).updateMessages("lifted", append);
      expect(await redis.hget(key, "expires")).toBeNull();
      for (const kept of await keysOf(redis, prefix, "lifted")) expect(await redis.pttl(kept)).toBe(-1);
    });

    test("a write by a store with ttlMs begins the expiry of every key, of new ones too", async () => {
      const begin = update(null, 5, { append: messages(1, 4), move: [{ seq: 1, to: "superseded" }] });
      await redisStore({ client: redis, prefix }).updateMessages("expires", begin);
      const store = redisStore({ client: redis, prefix, ttlMs: 3_600_000 });
      const add = update(begin.version, 6, { append: [message(5)] });
      await store.updateMessages("expires", add);
      const evict = update(add.version, 7, { append: [message(6)], move: [{ seq: 2, to: "evicted" }] });
      await store.updateMessages("expires", evict);
      const keys = await keysOf(redis, prefix, "expires");
      expect(keys).toHaveLength(4);
      const times = await Promise.all(keys.map((key) => redis.call("pexpiretime", [key])));
      expect(new Set(times).size).toBe(1);
      // Each write renews all of them.
      for (const key of keys) await redis.pexpire(key, 60_000);
      await store.updateMessages("expires", update(evict.version, 8, { append: [message(7)] }));
      const renewed = await Promise.all(keys.map((key) => redis.call("pexpiretime", [key])));
      expect(new Set(renewed).size).toBe(1);
      expect(await redis.pttl(keys[0] ?? "")).toBeGreaterThan(3_500_000);
    });

    test("the keys of an expired memory go by themselves, whatever was written before", async () => {
      const own = newPrefix();
      const store = redisStore({ client: redis, prefix: own, ttlMs: 60_000 });
      for (let n = 0; n < 10; n++) {
        const begin = update(null, 4, {
          owner: "o",
          append: messages(1, 3),
          move: [{ seq: 1, to: "evicted" }],
        });
        await store.updateMessages(`m${n}`, begin);
        await store.updateMessages(`m${n}`, update(begin.version, 5, { append: [message(4)] }));
      }
      for (const key of await redis.keys(`${own}memory*`)) {
        expect(await redis.pttl(key)).toBeGreaterThan(0);
        await redis.pexpire(key, 1);
      }
      await vi.waitUntil(async () => (await redis.keys(`${own}memory*`)).length === 0, { timeout: 30_000 });
      expect((await store.listMemories({ owner: "o" })).memories).toEqual([]);
      // Where one stood another begins.
      await store.updateMessages("m0", update(null, 2, { append: [message(1)] }));
      expect((await store.getHistory("m0", {})).messages).toHaveLength(1);
    });

    test("a head whose numbers cannot be read is CORRUPT_RECORD", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 3, { append: messages(1, 2) });
      await store.updateMessages("numbers", begin);
      const key = (await keysOf(redis, prefix, "numbers")).find((name) => name.endsWith("head")) ?? "";
      const append = update(begin.version, 4, { append: [message(3)] });
      const replace = update(begin.version, 4, { replace: [message(2, '"new"')] });
      const damages = [
        () => redis.hset(key, "next", ""),
        () => redis.hset(key, "next", "private words"),
        () => redis.hdel(key, "next"),
      ];
      for (const damage of damages) {
        await damage();
        for (const call of [
          () => store.getMessages("numbers"),
          () => store.updateMessages("numbers", append),
          () => store.updateMessages("numbers", replace),
        ]) {
          const error: unknown = await call().catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId: "numbers" } });
          expect(String(error)).not.toContain("private words");
        }
      }
    });

    test("a page of history carries a page, however many match", async () => {
      const answers: unknown[] = [];
      const client: RedisClient = {
        async call(command, args) {
          answers.push(await redis.call(command, args));
          return answers.at(-1);
        },
      };
      const store = redisStore({ client, prefix });
      const states = ["evicted", "superseded", "live"] as const;
      const move = messages(1, 60).map(({ seq }) => ({ seq, to: states[seq % 3] ?? "live" }));
      await store.updateMessages("pages", update(null, 61, { append: messages(1, 60), move }));
      const ids = messages(1, 60).map(({ id }) => id);
      for (const query of [{}, { ids }, { order: "descending" as const }]) {
        const page = await store.getHistory("pages", { ...query, limit: 5 });
        expect(page.messages).toHaveLength(5);
        expect(page.hasMore).toBe(true);
        // The version, and one more, which says that there is more.
        expect(answers.at(-1)).toMatchObject({ length: 7 });
      }
    });

    test("nothing of a message that was removed is left, its id neither", async () => {
      const store = redisStore({ client: redis, prefix });
      const begin = update(null, 4, { append: messages(1, 3) });
      await store.updateMessages("removed", begin);
      const change = update(begin.version, 4, {
        replace: [message(2, '"new"')],
        move: [1, 2].map((seq) => ({ seq, to: "removed" as const })),
      });
      await store.updateMessages("removed", change);
      const [ids = ""] = (await keysOf(redis, prefix, "removed")).filter((name) => name.endsWith(":ids"));
      expect(await redis.hgetall(ids)).toEqual({ [message(3).id]: "3" });
      expect(String(await rawRead(redis, prefix, "removed"))).not.toContain("new");
    });

    test.each([
      ["memory", "maxmemory", "OOM", "STORE_REFUSED"],
      ["replicas", "min-replicas-to-write", "NOREPLICAS", "STORE_UNAVAILABLE"],
    ] as const)(
      "a refusal for want of %s changes nothing, says so, and nothing is sent again",
      async (_, setting, reason, code) => {
        // One of its own: nobody can write meanwhile.
        const server = await startRedis({ engine, sources: ["machine", "cache"] });
        onTestFinished(() => server.stop());
        const own = new Redis(server.url);
        onTestFinished(() => own.disconnect());
        for (const script of Object.values(scripts)) await own.script("LOAD", script.text);
        const client = recording(own);
        const store = redisStore({ client, prefix });
        const begin = update(null, 3, { head: "1", append: messages(1, 2) });
        await store.updateMessages("full", begin);
        const before = await rawRead(own, prefix, "full");
        await own.config("SET", setting, "1");
        const payload = '"private words"';
        const lean = update(begin.version, 4, {
          head: "2",
          append: [message(3, payload)],
          move: [{ seq: 1, to: "evicted" }],
        });
        const general = {
          ...lean,
          replace: [message(2, payload)],
          move: [{ seq: 1, to: "removed" as const }],
        };
        for (const change of [lean, general]) {
          client.commands.length = 0;
          const error = await failure(() => store.updateMessages("full", change));
          expect(client.commands.map((command) => command.name)).toEqual(["evalsha"]);
          expect(error).toMatchObject({ code, cause: { code: reason } });
          expect((error as Error).message).toContain("Nothing was written");
          expect(said(error)).not.toContain("private words");
        }
        expect(await rawRead(own, prefix, "full")).toEqual(before);
      },
    );
  });
}
