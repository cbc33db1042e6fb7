import { beforeEach, describe, expect, it } from "vitest";
import {
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { losing, meeting } from "./meeting-store.ts";

const hour = 60 * 60 * 1000;

describe("assign", () => {
  it("gives all memories of an owner, or those named, another owner, and leaves the rest", async () => {
    const memories = createChatMemories({ store: inMemoryStore() });
    for (const id of ["a", "b", "c"]) await memories.get(id, { owner: "guest" }).add(user(id));
    await memories.get("d", { owner: "bob" }).add(user("d"));
    const first = { from: "guest", to: "ann", ids: ["b", "b", "absent"] };
    expect(await memories.assign(first)).toEqual({ assigned: ["b"] });
    await expect(memories.get("b", { owner: "guest" }).messages()).rejects.toMatchObject({
      code: "OWNER_MISMATCH",
    });
    expect(await memories.get("b", { owner: "ann" }).messages()).toEqual([user("b")]);
    expect(await memories.assign({ from: "guest", to: "ann" })).toEqual({ assigned: ["a", "c"] });
    expect(await memories.assign({ from: "guest", to: "ann" })).toEqual({ assigned: [] });
    const { memories: anns } = await memories.list({ owner: "ann", order: "newest" });
    expect(anns.map(({ memoryId }) => memoryId)).toEqual(["c", "a", "b"]);
    await expect(memories.assign({ from: "ann", to: "eve", ids: ["d"] })).rejects.toMatchObject({
      code: "OWNER_MISMATCH",
    });
    expect(await memories.get("d", { owner: "bob" }).messages()).toHaveLength(1);
  });

  it("ends the writes of who had it loaded for the owner before", async () => {
    const store = inMemoryStore();
    const [one, two] = [createChatMemories({ store }), createChatMemories({ store })];
    const guests = one.get("a", { owner: "guest" });
    await guests.add(user("One"));
    await two.assign({ from: "guest", to: "ann" });
    await expect(guests.add(user("Two"))).rejects.toMatchObject({ code: "OWNER_MISMATCH" });
    expect(await two.get("a", { owner: "ann" }).messages()).toEqual([user("One")]);
  });

  it("can be repeated after an error, and answers those that it came to before", async () => {
    const inner = inMemoryStore();
    let fails = false;
    const store: ChatMemoryStore = {
      ...inner,
      async updateMessages(id, update, options) {
        if (fails && id === "b") throw new TurnkeepError("STORE_REFUSED", "read-only");
        return inner.updateMessages(id, update, options);
      },
    };
    const memories = createChatMemories({ store });
    for (const id of ["a", "b"]) await memories.get(id, { owner: "guest" }).add(user(id));
    fails = true;
    const request = { from: "guest", to: "ann", ids: ["a", "b"] };
    await expect(memories.assign(request)).rejects.toMatchObject({ code: "STORE_REFUSED" });
    fails = false;
    expect(await memories.assign(request)).toEqual({ assigned: ["a", "b"] });
  });

  it.each([undefined, ["a"]])("is known though its answer was lost, of the ids %o", async (ids) => {
    const inner = inMemoryStore();
    await createChatMemories({ store: inner }).get("a", { owner: "guest" }).add(user("a"));
    const memories = createChatMemories({ store: losing(inner) });
    expect(await memories.assign({ from: "guest", to: "ann", ids })).toEqual({ assigned: ["a"] });
  });

  it("lands beside writers, and loses none of theirs", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store });
    await memories.get("a", { owner: "guest" }).add(user("0"));
    const anybody = createChatMemories({ store }).get("a");
    const adds = Array.from({ length: 20 }, (_, index) => anybody.add(user(`${index}`)));
    expect(await memories.assign({ from: "guest", to: "ann" })).toEqual({ assigned: ["a"] });
    await Promise.all(adds);
    expect(await memories.get("a", { owner: "ann" }).messages()).toHaveLength(21);
  });

  it.each([
    { from: "a" },
    { from: "", to: "b" },
    { from: "a", to: "b", ids: "c" },
    { from: "a", to: "b", all: true },
  ])("of %o is INVALID_OPTION", async (request) => {
    const memories = createChatMemories({ store: inMemoryStore() });
    await expect(memories.assign(request as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});

describe("prune", () => {
  /** Memories in which each old message has left the view, or was taken back. */
  async function oldMemories(store: ChatMemoryStore) {
    const memories = createChatMemories({ store, window: { maxMessages: 2 } });
    const old = { createdAt: Date.now() - 2 * hour };
    for (const id of ["a", "b"]) {
      const memory = memories.get(id, { owner: id });
      await memory.add(...["1", "2", "3"].map((text) => entry(user(text), { id: text, ...old })));
      await memory.add(entry(user("4"), { id: "4" }));
      await memory.rewind("4");
      await memory.add(entry(user("5"), { id: "5" }));
    }
    return memories;
  }
  const idsOf = async (memories: Awaited<ReturnType<typeof oldMemories>>, id: string) =>
    (await memories.get(id).history()).messages.map((message) => message.id);

  it("removes what is older from histories, and says what", async () => {
    const memories = await oldMemories(inMemoryStore());
    const before = await memories.get("a").messages();
    const request = { olderThanMs: hour };
    const found = await memories.prune({ ...request, dryRun: true });
    expect(await idsOf(memories, "a")).toEqual(["1", "2", "3", "4", "5"]);
    expect(await memories.prune({ ...request, owner: "a" })).toEqual({
      memories: found.memories.slice(0, 1),
    });
    expect(found.memories[0]).toEqual({ memoryId: "a", messageIds: ["1", "2"] });
    expect(await idsOf(memories, "a")).toEqual(["3", "4", "5"]);
    expect(await memories.get("a").messages()).toEqual(before);
    expect(await idsOf(memories, "b")).toEqual(["1", "2", "3", "4", "5"]);
    expect(await memories.prune({ olderThanMs: 0, states: ["superseded"], owner: "b" })).toEqual({
      memories: [{ memoryId: "b", messageIds: ["4"] }],
    });
    expect((await memories.prune(request)).memories).toEqual(found.memories.slice(1));
    expect(await memories.prune(request)).toEqual({ memories: [] });
  });

  it("says what it removed though the answer was lost, and somebody else wrote since", async () => {
    const inner = inMemoryStore();
    const theirs = await oldMemories(inner);
    const store = losing(inner, () => theirs.get("a").add(user("6")));
    const memories = createChatMemories({ store, window: { maxMessages: 2 } });
    expect(await memories.prune({ olderThanMs: hour, owner: "a" })).toEqual({
      memories: [{ memoryId: "a", messageIds: ["1", "2", "3"] }],
    });
  });

  it("removes any number, a thousand in one update", async () => {
    const inner = inMemoryStore();
    const moves: number[] = [];
    const store: ChatMemoryStore = {
      ...inner,
      updateMessages(id, update, options) {
        moves.push(update.move.length);
        return inner.updateMessages(id, update, options);
      },
    };
    const memories = createChatMemories({ store, window: { maxMessages: 1 } });
    const createdAt = Date.now() - hour;
    await memories
      .get("a")
      .add(...Array.from({ length: 2501 }, (_, n) => entry(user(`${n}`), { createdAt })));
    moves.length = 0;
    const pruned = await memories.prune({ olderThanMs: 1 });
    expect(pruned.memories[0]?.messageIds).toHaveLength(2500);
    expect(moves).toEqual([1000, 1000, 500]);
    expect((await memories.get("a").history()).messages).toHaveLength(1);
  });

  it("asks the store as often for a long branch as for a short one", async () => {
    const reads: number[] = [];
    for (const length of [5, 400]) {
      const inner = inMemoryStore();
      const memory = createChatMemory({ id: "a", store: inner });
      const list = Array.from({ length }, (_, n) => entry(user(`${n}`), { createdAt: 1 }));
      for (let time = 0; time < 3; time++) await memory.set(list);
      let count = 0;
      const store = meeting(inner, (method, isMade) => {
        if (method === "getHistory" && isMade) count++;
      });
      const { memories } = await createChatMemories({ store }).prune({
        olderThanMs: 1,
        states: ["superseded"],
      });
      expect(memories[0]?.messageIds).toHaveLength(2 * length);
      reads.push(count);
    }
    expect(reads[1]).toBe(reads[0]);
  });

  it.each([{}, { olderThanMs: -1 }, { olderThanMs: 1, states: ["live"] }, { olderThanMs: 1, states: [] }])(
    "of %o is INVALID_OPTION",
    async (request) => {
      const memories = createChatMemories({ store: inMemoryStore() });
      await expect(memories.prune(request as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    },
  );
});

describe("a memory that cannot be read", () => {
  let store: ChatMemoryStore;
  beforeEach(async () => {
    store = inMemoryStore();
    const update = { expected: null, version: "v", nextSeq: 1, append: [], replace: [], move: [] };
    const heads = { a: "damaged", c: JSON.stringify({ v: 999 }) };
    for (const [id, head] of Object.entries(heads))
      await store.updateMessages(id, { ...update, owner: "ann", head });
    const others = createChatMemories({ store, owner: "ann", window: { maxMessages: 1 } });
    const createdAt = Date.now() - hour;
    for (const id of ["b", "d"])
      await others.get(id).add(entry(user("1"), { id: "1", createdAt }), entry(user("2"), { id: "2" }));
  });
  const unreadable = { code: "CORRUPT_RECORD", details: { memoryId: "a" } };

  it("keeps no other from being assigned, and is told at the end", async () => {
    const memories = createChatMemories({ store });
    await expect(memories.assign({ from: "ann", to: "bob" })).rejects.toMatchObject(unreadable);
    const { memories: bobs } = await memories.list({ owner: "bob" });
    expect(bobs.map(({ memoryId }) => memoryId)).toEqual(["b", "d"]);
    await memories.erase({ owner: "ann" });
    expect((await memories.list({ owner: "ann" })).memories).toEqual([]);
    expect(await memories.assign({ from: "ann", to: "bob" })).toEqual({ assigned: [] });
  });

  it("keeps no other from being pruned, and is told at the end", async () => {
    const memories = createChatMemories({ store });
    const pruned = memories.prune({ olderThanMs: 1, owner: "ann" });
    await expect(pruned).rejects.toMatchObject(unreadable);
    for (const id of ["b", "d"]) {
      const { messages } = await memories.get(id).history();
      expect(messages.map((message) => message.id)).toEqual(["2"]);
    }
  });

  it("does not hide that the store could not be asked", async () => {
    const down = meeting(store, (method) => {
      if (method === "updateMessages") throw new TurnkeepError("STORE_REFUSED", "read-only");
    });
    const assigned = createChatMemories({ store: down }).assign({ from: "ann", to: "bob" });
    await expect(assigned).rejects.toMatchObject({ code: "STORE_REFUSED" });
  });
});
