import { describe, expect, test } from "vitest";
import type { ChatMemoryStore, HistoryPage, MemoryUpdate } from "../src/store-contract.ts";
import { message, moveAll, seed, stores, update } from "./stores-support.ts";

const absent = { version: null, nextSeq: 1, messages: [] };

function seqs(page: HistoryPage): number[] {
  return page.messages.map(({ seq }) => seq);
}

describe.each(stores)("%s", (name, create) => {
  test("an unknown memory is an empty snapshot and an empty history, and can be deleted", async () => {
    const store = create();
    expect(await store.getMessages("a")).toEqual(absent);
    expect(await store.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
    await store.deleteMessages("a");
  });

  test("what is written comes back, member by member", async () => {
    const store = create();
    const append = [message(1, { meta: '{"t":1}' }), message(4, { payload: '"🙂\u2028é"' })];
    const first = update(null, { owner: "me", head: '{"h":1}', append, nextSeq: 8 });
    await store.updateMessages("a", first);
    const snapshot = { version: first.version, nextSeq: 8, owner: "me", head: '{"h":1}', messages: append };
    expect(await store.getMessages("a")).toStrictEqual(snapshot);

    const second = update(first.version, { nextSeq: 9, data: '{"title":"A"}' });
    await store.updateMessages("a", second);
    const after = { version: second.version, nextSeq: 9, data: '{"title":"A"}' };
    expect(await store.getMessages("a")).toStrictEqual({ ...snapshot, ...after });

    await store.updateMessages("a", update(second.version, { head: "{}", owner: "you", nextSeq: 9 }));
    expect(await store.getMessages("a")).toMatchObject({ owner: "you", head: "{}", data: '{"title":"A"}' });
  });

  test("a read that knows the version in place is told so, and carries no messages", async () => {
    const store = create();
    const first = await seed(store, "a", 2, { owner: "me", head: "{}" });
    const known = { version: first, nextSeq: 3, owner: "me", head: "{}", messages: [], unchanged: true };
    expect(await store.getMessages("a", { known: first })).toStrictEqual(known);
    const second = update(first, { nextSeq: 3 });
    await store.updateMessages("a", second);
    const read = await store.getMessages("a", { known: first });
    expect(read).toStrictEqual(await store.getMessages("a"));
    expect(read.messages).toHaveLength(2);
  });

  test("members the contract does not name are not kept", async () => {
    const store = create();
    const extra = { ...message(1), meta: undefined, secret: 1 };
    await store.updateMessages("a", update(null, { append: [extra] }));
    expect((await store.getMessages("a")).messages).toStrictEqual([message(1)]);
    expect((await store.getHistory("a", {})).messages).toStrictEqual([{ ...message(1), state: "live" }]);
  });

  test("neither the caller's update nor a read shares anything with what is stored", async () => {
    const store = create();
    const given = message(1);
    const change = update(null, { append: [given] });
    await store.updateMessages("a", change);
    given.payload = "changed";
    change.append.push(message(2));
    const read = await store.getMessages("a");
    for (const one of read.messages) one.payload = "changed";
    read.messages.length = 0;
    const page = await store.getHistory("a", {});
    for (const one of page.messages) one.state = "evicted";
    expect((await store.getMessages("a")).messages).toEqual([message(1)]);
    expect((await store.getHistory("a", {})).messages).toEqual([{ ...message(1), state: "live" }]);
  });

  test("what a caller does to an update or a query once the call is made changes nothing", async () => {
    const store = create();
    const change = update(null, { append: [message(1), message(2)], move: moveAll([1], "evicted") });
    const wanted = change.version;
    const writing = store.updateMessages("a", change);
    change.append.push(message(3));
    for (const given of change.append) given.payload = "changed\0";
    for (const given of change.move) given.to = "removed";
    change.version = "changed";
    change.nextSeq = 9;
    await writing;
    expect(await store.getMessages("a")).toEqual({ version: wanted, nextSeq: 3, messages: [message(2)] });
    const query = { ids: ["m1"], states: ["evicted" as const] };
    const reading = store.getHistory("a", query);
    query.ids[0] = "m2";
    query.states.length = 0;
    expect((await reading).messages).toEqual([{ ...message(1), state: "evicted" }]);
  });

  test("states: what leaves stays in history, what is removed is gone, what comes back stands at its seq", async () => {
    const store = create();
    const v1 = await seed(store, "a", 6);
    const move = [...moveAll([1, 4], "evicted"), ...moveAll([5], "superseded"), ...moveAll([6], "removed")];
    const second = update(v1, { nextSeq: 7, move });
    await store.updateMessages("a", second);
    expect((await store.getMessages("a")).messages.map(({ seq }) => seq)).toEqual([2, 3]);
    const page = await store.getHistory("a", {});
    expect(page.messages.map(({ seq, state }) => [seq, state])).toEqual([
      [1, "evicted"],
      [2, "live"],
      [3, "live"],
      [4, "evicted"],
      [5, "superseded"],
    ]);
    const third = update(second.version, {
      nextSeq: 8,
      append: [message(7)],
      move: [...moveAll([4, 1], "live"), ...moveAll([5], "removed")],
    });
    await store.updateMessages("a", third);
    expect((await store.getMessages("a")).messages).toEqual([1, 2, 3, 4, 7].map((seq) => message(seq)));
    expect(seqs(await store.getHistory("a", {}))).toEqual([1, 2, 3, 4, 7]);
  });

  test("what was removed is found by no id, and its id may be used again", async () => {
    const store = create();
    const v1 = await seed(store, "a", 3);
    const second = update(v1, { nextSeq: 4, move: moveAll([1, 2], "removed") });
    await store.updateMessages("a", second);
    const ids = ["m1", "m2", "m3"];
    expect(seqs(await store.getHistory("a", { ids }))).toEqual([3]);
    await store.updateMessages("a", update(second.version, { append: [message(4, { id: "m1" })] }));
    expect(seqs(await store.getHistory("a", { ids }))).toEqual([3, 4]);
  });

  test("an id that several messages have had finds all of them that are kept", async () => {
    const store = create();
    const v1 = await seed(store, "a", 2);
    const again = update(v1, {
      append: [message(3, { id: "m1" }), message(4)],
      move: moveAll([1], "superseded"),
    });
    await store.updateMessages("a", again);
    const third = update(again.version, {
      append: [message(5, { id: "m1" })],
      move: moveAll([3], "removed"),
    });
    await store.updateMessages("a", third);
    expect(seqs(await store.getHistory("a", { ids: ["m1"] }))).toEqual([1, 5]);
  });

  test("a move may name what the same update appends or replaces", async () => {
    const store = create();
    const v1 = await seed(store, "a", 4);
    await store.updateMessages(
      "a",
      update(v1, {
        nextSeq: 8,
        append: [message(5), message(6), message(7)],
        replace: [
          message(1, { payload: "new1", meta: "meta1" }),
          message(2, { payload: "new2" }),
          message(3),
        ],
        move: [...moveAll([5, 2], "evicted"), ...moveAll([6, 3], "removed")],
      }),
    );
    expect((await store.getHistory("a", {})).messages).toEqual([
      { ...message(1, { payload: "new1", meta: "meta1" }), state: "live" },
      { ...message(2, { payload: "new2" }), state: "evicted" },
      { ...message(4), state: "live" },
      { ...message(5), state: "evicted" },
      { ...message(7), state: "live" },
    ]);
    expect((await store.getMessages("a")).messages.map(({ seq }) => seq)).toEqual([1, 4, 7]);
  });

  test("an evicted message is replaced in history, and comes back as it is", async () => {
    const store = create();
    const v1 = await seed(store, "a", 4);
    const second = update(v1, { nextSeq: 5, move: moveAll([1, 2], "evicted") });
    await store.updateMessages("a", second);
    const evicted = (seq: number, payload: string) => ({
      ...message(seq, { payload }),
      state: "evicted" as const,
    });
    const third = update(second.version, {
      nextSeq: 6,
      append: [message(5)],
      replace: [evicted(2, "new2"), message(3, { payload: "new3" })],
    });
    await store.updateMessages("a", third);
    const live = [message(3, { payload: "new3" }), message(4), message(5)];
    expect((await store.getMessages("a")).messages).toStrictEqual(live);
    const query = { states: ["evicted" as const] };
    const left = [{ ...message(1), state: "evicted" }, evicted(2, "new2")];
    expect((await store.getHistory("a", query)).messages).toStrictEqual(left);
    const fourth = update(third.version, {
      nextSeq: 6,
      replace: [evicted(1, "new1")],
      move: moveAll([1, 2], "live"),
    });
    await store.updateMessages("a", fourth);
    const back = [message(1, { payload: "new1" }), message(2, { payload: "new2" })];
    expect((await store.getMessages("a")).messages).toStrictEqual([...back, ...live]);
  });

  test("a replacement of what is not evicted as it says, or in words of no state, is INVALID_OPTION", async () => {
    const store = create();
    const v1 = await seed(store, "a", 3);
    const moved = [...moveAll([1], "evicted"), ...moveAll([2], "superseded")];
    const second = update(v1, { nextSeq: 4, move: moved });
    await store.updateMessages("a", second);
    const said: [seq: number, state: string][] = [
      [1, "live"],
      [1, "superseded"],
      [2, "evicted"],
      [3, "evicted"],
    ];
    for (const [seq, state] of said) {
      const replace = [{ ...message(seq, { payload: "lost" }), state: state as "evicted" }];
      const wrong = store.updateMessages("a", update(second.version, { nextSeq: 4, replace }));
      await expect(wrong, `${seq} as ${state}`).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
    const page = await store.getHistory("a", {});
    expect(page.messages.map(({ payload }) => payload)).not.toContain("lost");
  });

  test("replace drops a meta that is not given", async () => {
    const store = create();
    const begin = update(null, { append: [message(1, { meta: "old" })] });
    await store.updateMessages("a", begin);
    await store.updateMessages("a", update(begin.version, { nextSeq: 2, replace: [message(1)] }));
    expect((await store.getMessages("a")).messages).toStrictEqual([message(1)]);
  });

  test("another expected version is VERSION_CONFLICT and changes nothing", async () => {
    const store = create();
    await expect(store.updateMessages("a", update("v0"))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await store.getMessages("a")).toEqual(absent);
    await seed(store, "a", 2, { head: "h" });
    const before = await store.getMessages("a");
    for (const expected of [null, "v0"]) {
      const change = update(expected, {
        nextSeq: 4,
        append: [message(3)],
        move: moveAll([1], "evicted"),
        head: "x",
      });
      await expect(store.updateMessages("a", change)).rejects.toMatchObject({
        code: "VERSION_CONFLICT",
        details: { memoryId: "a" },
      });
    }
    expect(await store.getMessages("a")).toEqual(before);
    expect(seqs(await store.getHistory("a", {}))).toEqual([1, 2]);
  });

  test("of many updates from one version, made at once, exactly one lands", async () => {
    const store = create();
    const v1 = await seed(store, "a", 1);
    const changes = Array.from({ length: 8 }, (_, n) =>
      update(v1, { nextSeq: 3, append: [message(2, { id: `racer${n}` })] }),
    );
    const results = await Promise.allSettled(changes.map((change) => store.updateMessages("a", change)));
    const won = changes.filter((_, n) => results[n]?.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "VERSION_CONFLICT" });
    }
    const { version, messages } = await store.getMessages("a");
    expect({ version, last: messages[1]?.id }).toEqual({
      version: won[0]?.version,
      last: won[0]?.append[0]?.id,
    });
    expect(messages).toHaveLength(2);
  });

  test("the same update twice is one update, until another commit", async () => {
    const store = create();
    const begin = update(null, { append: [message(1)] });
    await Promise.all([store.updateMessages("a", begin), store.updateMessages("a", begin)]);
    const next = update(begin.version, { append: [message(2)] });
    await store.updateMessages("a", next);
    await store.updateMessages("a", next);
    expect((await store.getMessages("a")).messages).toEqual([message(1), message(2)]);
    await store.updateMessages("a", update(next.version, { append: [message(3)] }));
    for (const old of [begin, next]) {
      await expect(store.updateMessages("a", old)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    }
    expect(seqs(await store.getHistory("a", {}))).toEqual([1, 2, 3]);
  });

  test("a deleted and recreated memory is not the old one", async () => {
    const store = create();
    const v1 = await seed(store, "a", 3, { owner: "old", head: "old" });
    await store.deleteMessages("a");
    expect(await store.getMessages("a")).toEqual(absent);
    expect(await store.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
    const late = update(v1, { nextSeq: 5, append: [message(4)] });
    await expect(store.updateMessages("a", late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    const again = update(null, { append: [message(1, { payload: "new" })] });
    await store.updateMessages("a", again);
    await expect(store.updateMessages("a", late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    const messages = [message(1, { payload: "new" })];
    expect(await store.getMessages("a")).toStrictEqual({ version: again.version, nextSeq: 2, messages });
    expect((await store.getHistory("a", { ids: ["m2", "m3"] })).messages).toEqual([]);
  });

  test("a memory may begin empty, and with messages that are already history", async () => {
    const store = create();
    const begin = update(null, { nextSeq: 1 });
    await store.updateMessages("a", begin);
    expect(await store.getMessages("a")).toEqual({ version: begin.version, nextSeq: 1, messages: [] });
    await store.deleteMessages("a");
    const fork = update(null, { append: [message(1), message(2)], move: moveAll([1], "evicted") });
    await store.updateMessages("a", fork);
    expect((await store.getMessages("a")).messages).toEqual([message(2)]);
    expect(seqs(await store.getHistory("a", { states: ["evicted"] }))).toEqual([1]);
  });

  test.each<[string, Partial<MemoryUpdate>]>([
    ["a seq used before", { nextSeq: 9, append: [message(3, { id: "new" })] }],
    ["a seq below nextSeq that was never used", { nextSeq: 9, append: [message(5)] }],
    ["nextSeq that goes back", { nextSeq: 5 }],
    ["replacing what is not there", { nextSeq: 9, replace: [message(4)] }],
    ["replacing what is not live", { nextSeq: 9, replace: [message(1)] }],
    ["replacing under another id", { nextSeq: 9, replace: [message(2, { id: "other" })] }],
    ["moving what is not there", { nextSeq: 9, move: moveAll([4], "evicted") }],
    ["removing what is not there", { nextSeq: 9, append: [message(7)], move: moveAll([7, 4], "removed") }],
  ])("%s is INVALID_OPTION and changes nothing", async (_, over) => {
    const store = create();
    const v1 = await seed(store, "a", 3);
    const v2 = update(v1, { nextSeq: 6, move: moveAll([1], "evicted") });
    await store.updateMessages("a", v2);
    const before = [await store.getMessages("a"), await store.getHistory("a", {})];
    const change = { ...update(v2.version, over), head: "changed" };
    await expect(store.updateMessages("a", change)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining('memory "a"'),
    });
    expect([await store.getMessages("a"), await store.getHistory("a", {})]).toEqual(before);
  });

  test("history pages: bounds, order, limit, states and ids", async () => {
    const store = create();
    const v1 = await seed(store, "a", 10);
    await store.updateMessages(
      "a",
      update(v1, { nextSeq: 11, move: [...moveAll([1, 2, 3], "evicted"), ...moveAll([9], "superseded")] }),
    );
    const read = async (
      query: Parameters<ChatMemoryStore["getHistory"]>[1],
    ): Promise<[number[], boolean]> => {
      const page = await store.getHistory("a", query);
      return [seqs(page), page.hasMore];
    };
    expect(await read({ limit: 10 })).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], false]);
    expect(await read({ limit: 3 })).toEqual([[1, 2, 3], true]);
    expect(await read({ after: 3, before: 6 })).toEqual([[4, 5], false]);
    expect(await read({ after: 3, before: 7, limit: 3 })).toEqual([[4, 5, 6], false]);
    expect(await read({ order: "descending", limit: 4 })).toEqual([[10, 9, 8, 7], true]);
    expect(await read({ order: "descending", before: 4, after: 1 })).toEqual([[3, 2], false]);
    expect(await read({ states: ["evicted", "superseded"] })).toEqual([[1, 2, 3, 9], false]);
    expect(await read({ states: ["live"], limit: 6, order: "descending" })).toEqual([
      [10, 8, 7, 6, 5, 4],
      false,
    ]);
    expect(await read({ states: [] })).toEqual([[], false]);
    expect(await read({ ids: ["m9", "m2", "none", "m5"] })).toEqual([[2, 5, 9], false]);
    expect(await read({ ids: ["m9", "m2", "m5"], order: "descending", limit: 2 })).toEqual([[9, 5], true]);
    expect(await read({ ids: ["m9", "m2", "m5"], states: ["live"] })).toEqual([[5], false]);
    expect(await read({ ids: ["m9", "m2", "m5"], after: 2, before: 9 })).toEqual([[5], false]);
    expect(await read({ ids: [] })).toEqual([[], false]);
    expect(await read({ after: 7, before: 3 })).toEqual([[], false]);
    expect(await read({ after: 10 })).toEqual([[], false]);
    expect(await read({ before: 0 })).toEqual([[], false]);
  });

  test("MESSAGE_TOO_LARGE above what it declares, before anything is written; up to it, all is well", async () => {
    const store = create();
    const limit = store.capabilities.maxMessageBytes;
    const v1 = await seed(store, "a", 1);
    const over = update(v1, { append: [message(2), message(3, { payload: "x".repeat(limit), meta: "y" })] });
    await expect(store.updateMessages("a", over)).rejects.toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      details: { messageIds: ["m3"], needed: limit + 1, limit },
    });
    expect((await store.getMessages("a")).messages).toEqual([message(1)]);
    const full = message(2, { payload: "x".repeat(limit - 1), meta: "y" });
    await store.updateMessages("a", update(v1, { append: [full] }));
    expect((await store.getMessages("a")).messages[1] as unknown).toEqual(full);
  });

  test("bad arguments are INVALID_OPTION in every method", async () => {
    const store = create();
    for (const id of ["", "\0", "\ud800", "x".repeat(513), undefined as unknown as string]) {
      for (const call of [
        store.getMessages(id),
        store.updateMessages(id, update(null)),
        store.deleteMessages(id),
        store.getHistory(id, {}),
      ]) {
        await expect(call).rejects.toMatchObject({ code: "INVALID_OPTION" });
      }
    }
    const bad = { ...update(null), nextSeq: 0 };
    await expect(store.updateMessages("a", bad)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(store.getHistory("a", { limit: 0 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(store.listMemories({ limit: 0 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(await store.getMessages("a")).toEqual(absent);
  });

  test("a signal that has fired is ABORTED in every method, and nothing changes", async () => {
    const store = create();
    const v1 = await seed(store, "a", 1);
    const reason = new Error("enough");
    const options = { signal: AbortSignal.abort(reason) };
    for (const call of [
      store.getMessages("a", options),
      store.updateMessages("a", update(v1, { append: [message(2)] }), options),
      store.deleteMessages("a", options),
      store.getHistory("a", {}, options),
      store.listMemories({}, options),
      store.sweep(options),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: reason });
    }
    expect(await store.getMessages("a")).toMatchObject({ version: v1, messages: [message(1)] });
  });

  test("close is idempotent; afterwards every method is CLOSED", async () => {
    const store = create();
    await seed(store, "a", 1);
    await store.close();
    await store.close();
    await store[Symbol.asyncDispose]();
    for (const call of [
      store.getMessages("a"),
      store.updateMessages("a", update(null)),
      store.deleteMessages("a"),
      store.getHistory("a", {}),
      store.listMemories({}),
      store.sweep(),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "CLOSED", message: expect.stringContaining(name) });
    }
  });

  test("capabilities cannot be changed", () => {
    expect(Object.isFrozen(create().capabilities)).toBe(true);
  });
});

describe.each(stores.filter(([name]) => name !== "singleSlotStore"))("%s: many memories", (_, create) => {
  test("two ids never share data, however alike they look", async () => {
    const store = create();
    const ids = [
      "a",
      "A",
      "a ",
      " a",
      "é",
      "e\u0301",
      "*",
      "a*",
      "{a}",
      "a:1",
      "__proto__",
      "constructor",
      "🙂",
      "\u0001",
    ];
    for (const id of ids) {
      await store.updateMessages(id, update(null, { append: [message(1, { payload: JSON.stringify(id) })] }));
    }
    await store.deleteMessages("a*");
    for (const id of ids) {
      const expected = id === "a*" ? [] : [message(1, { payload: JSON.stringify(id) })];
      expect((await store.getMessages(id)).messages, id).toEqual(expected);
    }
  });

  test("lists everybody's memories, or an owner's, page by page", async () => {
    const store = create();
    for (let n = 0; n < 120; n++) {
      await seed(store, `memory-${n}`, 0, n % 3 === 0 ? {} : { owner: n % 3 === 1 ? "one" : "two" });
    }
    const { version } = await store.getMessages("memory-7");
    await store.updateMessages("memory-7", update(version));
    const pages = async (owner: string | undefined, limit: number): Promise<string[][]> => {
      const found: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listMemories({ owner, limit, cursor });
        expect(page.memories.every((memory) => owner === undefined || memory.owner === owner)).toBe(true);
        found.push(page.memories.map(({ memoryId }) => memoryId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found;
    };
    const named = (keep: (n: number) => boolean): string[] =>
      Array.from({ length: 120 }, (__, n) => n)
        .filter(keep)
        .map((n) => `memory-${n}`)
        .sort();
    const everybody = await pages(undefined, 50);
    expect(everybody.map((page) => page.length)).toEqual([50, 50, 20]);
    expect(everybody.flat().sort()).toEqual(named(() => true));
    const one = await pages("one", 20);
    expect(one.map((page) => page.length)).toEqual([20, 20]);
    expect(one.flat().sort()).toEqual(named((n) => n % 3 === 1));
    expect(await pages("nobody", 20)).toEqual([[]]);
    await expect(store.listMemories({ cursor: "no cursor" })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  });

  test("a deleted memory is listed for nobody, and for its new owner when it begins again", async () => {
    const store = create();
    for (const id of ["a", "b"]) await seed(store, id, 1, { owner: "old" });
    await store.deleteMessages("a");
    const idsOf = async (owner: string | undefined): Promise<string[]> =>
      (await store.listMemories({ owner })).memories.map(({ memoryId }) => memoryId).sort();
    expect(await idsOf("old")).toEqual(["b"]);
    expect(await idsOf(undefined)).toEqual(["b"]);
    await seed(store, "a", 1, { owner: "new" });
    expect(await idsOf("old")).toEqual(["b"]);
    expect(await idsOf("new")).toEqual(["a"]);
    expect(await idsOf(undefined)).toEqual(["a", "b"]);
  });

  test("a cursor holds while memories come and go, its own included", async () => {
    const store = create();
    for (let n = 10; n < 40; n++) await seed(store, `memory-${n}`, 0);
    const seen: string[] = [];
    let cursor: string | undefined;
    let round = 0;
    do {
      const page = await store.listMemories({ limit: 4, cursor });
      seen.push(...page.memories.map(({ memoryId }) => memoryId));
      cursor = page.cursor;
      for (const { memoryId } of page.memories) await store.deleteMessages(memoryId);
      if (round < 3) await seed(store, `zz-${round}`, 0);
      round += 1;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(33);
    expect(new Set(seen).size).toBe(33);
    expect(await store.listMemories({})).toEqual({ memories: [] });
  });
});
