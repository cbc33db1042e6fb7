import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type JsonValue,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { losing } from "./meeting-store.ts";

describe("what is said about a conversation", () => {
  it("comes back as it was said, and stays while other things change", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1 } });
    expect(await memory.data()).toBeUndefined();
    await memory.update({ title: "Fjords", tags: ["norway", "\0\ud800"], rank: -0.5, left: undefined });
    const said = { title: "Fjords", tags: ["norway", "\0\ud800"], rank: -0.5 };
    expect(await memory.data()).toEqual(said);
    await memory.add(user("One"), user("Two"));
    expect(await memory.data()).toEqual(said);
    expect(await memory.messages()).toEqual([user("Two")]);
    await memory.update(null);
    expect(await memory.data()).toBeNull();
    await memory.clear();
    expect(await memory.data()).toBeUndefined();
  });

  it("is any JSON", async () => {
    const memory = createChatMemory();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (value) => {
        await memory.update(value as JsonValue);
        expect(await memory.data()).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ["undefined", undefined],
    ["a date", { at: new Date(0) }],
    ["a number without end", Number.POSITIVE_INFINITY],
    ["a bigint", 1n],
    ["a map", new Map([["a", 1]])],
    ["bytes", new Uint8Array(2)],
    ["a hole", [1, undefined]],
    ["8,193 bytes", "é".repeat(4096)],
  ])("is refused if it is %s, and nothing changes", async (_, value) => {
    const memory = createChatMemory();
    await memory.update("before");
    await expect(memory.update(value as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(memory.update(() => value as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(await memory.data()).toBe("before");
  });

  it("may have 8 KB, and no error shows it", async () => {
    const memory = createChatMemory();
    await memory.update("é".repeat(4095));
    const error = await memory.update("secret".repeat(2000)).catch(String);
    expect(error).toContain("12002");
    expect(error).not.toContain("secret");
  });

  it("is made of what is there by a function, also when two do so at once", async () => {
    const store = inMemoryStore();
    const memories = [0, 1, 2].map(() => createChatMemory({ id: "a", store }));
    const count = (before: JsonValue | undefined): JsonValue => Number(before ?? 0) + 1;
    await Promise.all(memories.flatMap((memory) => [1, 2, 3, 4].map(() => memory.update(count))));
    expect(await memories[0]?.data()).toBe(12);
  });

  it("changes in a transaction with the messages, or not at all", async () => {
    const memory = createChatMemory();
    await memory.transaction((transaction) => {
      transaction.update({ n: 1 });
      transaction.add(user("One"));
      transaction.update((before) => ({ ...(before as object), title: "One" }));
    });
    expect(await memory.data()).toEqual({ n: 1, title: "One" });
    const failing = memory.transaction((transaction) => {
      transaction.update("lost");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await memory.data()).toEqual({ n: 1, title: "One" });
  });

  it("is bound like any change", async () => {
    const store = inMemoryStore();
    const [memory, other] = [0, 1].map(() => createChatMemory({ id: "a", store })) as [
      ReturnType<typeof createChatMemory>,
      ReturnType<typeof createChatMemory>,
    ];
    await expect(memory.update(1, { mustExist: true as never })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await memory.add(user("One"));
    const mustExist = await memory.anchor();
    await memory.messages();
    await other.update("other's");
    await expect(memory.update("mine", { onConflict: "throw" })).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    await other.clear();
    await other.add(user("Anew"));
    await expect(memory.update("late", { mustExist })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await other.data()).toBeUndefined();
  });

  it("is written once though the answer was lost, and somebody else wrote since", async () => {
    const inner = inMemoryStore();
    const other = createChatMemory({ id: "a", store: inner });
    await other.add(user("One"));
    const store = losing(inner, () => other.add(user("Two")));
    let calls = 0;
    const memory = createChatMemory({ id: "a", store });
    await memory.update((before) => {
      calls++;
      return `${before ?? ""}x`;
    });
    expect([await memory.data(), calls]).toEqual(["x", 1]);
  });

  /** A store whose first update meets what somebody else does, before it is made or after, and then perhaps loses the answer. */
  function meeting(
    inner: ChatMemoryStore,
    { isMade, isLost, meanwhile }: { isMade: boolean; isLost: boolean; meanwhile: () => Promise<unknown> },
  ): ChatMemoryStore {
    let isFirst = true;
    return {
      ...inner,
      async updateMessages(id, update, options) {
        if (!isFirst) return inner.updateMessages(id, update, options);
        isFirst = false;
        if (isMade) await inner.updateMessages(id, update, options);
        await meanwhile();
        if (isLost) throw new TurnkeepError("STORE_UNAVAILABLE", "lost");
        return inner.updateMessages(id, update, options);
      },
    };
  }

  const count = (before: JsonValue | undefined): JsonValue => Number(before ?? 0) + 1;

  it("is not taken for made because somebody else said the same at the same time", async () => {
    const inner = inMemoryStore();
    const other = createChatMemory({ id: "a", store: inner });
    await other.update(1);
    const meanwhile = () => other.update(count);
    const store = meeting(inner, { isMade: false, isLost: false, meanwhile });
    await createChatMemory({ id: "a", store }).update(count);
    expect(await other.data()).toBe(3);
  });

  it.each([false, true])(
    "tells one of two who say the same that he is late, the first answered: %s",
    async (is) => {
      const inner = inMemoryStore();
      const other = createChatMemory({ id: "a", store: inner });
      await other.update("free");
      const meanwhile = () => other.update("taken", { onConflict: "throw" });
      const memory = createChatMemory({
        id: "a",
        store: meeting(inner, { isMade: false, isLost: !is, meanwhile }),
      });
      await memory.messages();
      await expect(memory.update("taken", { onConflict: "throw" })).rejects.toMatchObject({
        code: is ? "VERSION_CONFLICT" : "STORE_UNAVAILABLE",
      });
    },
  );

  it.each([
    ["made", true, 2],
    ["not made", false, 1],
  ])(
    "whose answer was lost, and was %s, is not said twice behind what others have said",
    async (_, isMade, said) => {
      const inner = inMemoryStore();
      const other = createChatMemory({ id: "a", store: inner });
      const [id] = await other.add(user("One"));
      const meanwhile = () => other.update(count);
      const late = createChatMemory({ id: "a", store: meeting(inner, { isMade, isLost: true, meanwhile }) });
      await expect(late.update(count)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await other.data()).toBe(said);
      const removing = createChatMemory({
        id: "a",
        store: meeting(inner, { isMade, isLost: true, meanwhile }),
      });
      const both = removing.transaction(({ remove, update }) => {
        remove(id);
        update(count);
      });
      await expect(both).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await other.data()).toBe(2 * said);
    },
  );

  it.each([
    ["begins, made", "new", true, 2],
    ["begins, not made", "new", false, 1],
    ["is replaced, made", "old", true, 2],
    ["is replaced, not made", "old", false, 1],
  ])(
    "is not said twice where others have said it too, with the same message: one that %s",
    async (_, id, isMade, said) => {
      const inner = inMemoryStore();
      const other = createChatMemory({ id: "a", store: inner });
      await other.add(entry(user("One"), { id: "old" }));
      const say = (memory: typeof other, text: string) =>
        memory.transaction(({ put, update }) => {
          update(count);
          put(id, user(text));
        });
      const meanwhile = () => say(other, "theirs");
      const late = createChatMemory({ id: "a", store: meeting(inner, { isMade, isLost: true, meanwhile }) });
      await expect(say(late, "ours")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await other.data()).toBe(said);
    },
  );

  it.each([true, false])(
    "is said once behind what others have added, its lost answer that it was made: %s",
    async (isMade) => {
      const inner = inMemoryStore();
      const other = createChatMemory({ id: "a", store: inner });
      await other.update(1);
      const meanwhile = async () => {
        const [id] = await other.add(user("One"));
        await other.rewind(id);
      };
      const store = meeting(inner, { isMade, isLost: true, meanwhile });
      await createChatMemory({ id: "a", store }).update(count);
      expect(await other.data()).toBe(2);
    },
  );

  it("that cannot be read is CORRUPT_RECORD, hides no other in a list, and can be replaced", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store });
    await memories.get("b").update({ title: "B" });
    const update = { expected: null, version: "v", nextSeq: 1, append: [], replace: [], move: [] };
    await store.updateMessages("a", { ...update, head: '{"v":1,"epoch":0}', data: "{" });
    await expect(memories.get("a").data()).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    const { memories: found } = await memories.list();
    expect(found.map(({ memoryId, data }) => [memoryId, data])).toEqual([
      ["b", { title: "B" }],
      ["a", undefined],
    ]);
    await memories.get("a").update("A");
    expect(await memories.get("a").data()).toBe("A");
  });
});

describe("a memory's own ttlMs", () => {
  it("goes with every write, whatever the store's is", async () => {
    let now = 0;
    const store = inMemoryStore({ ttlMs: 100, now: () => now });
    const forEver = createChatMemory({ id: "kept", store, ttlMs: null });
    const short = createChatMemory({ id: "short", store, ttlMs: 10 });
    const plain = createChatMemory({ id: "plain", store });
    for (const memory of [forEver, short, plain]) await memory.add(user("Hello"));
    now = 10;
    expect(await short.messages()).toEqual([]);
    expect(await plain.messages()).toHaveLength(1);
    await plain.update(1);
    now = 109;
    expect(await plain.messages()).toHaveLength(1);
    now = 1e6;
    expect(await plain.messages()).toEqual([]);
    expect(await forEver.messages()).toHaveLength(1);
  });

  it.each([0, 1.5, "1"])("of %s is INVALID_OPTION, and so is any where nothing expires", (ttlMs) => {
    const wrong = () => createChatMemory({ id: "a", store: inMemoryStore(), ttlMs: ttlMs as number });
    expect(wrong).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(() => createChatMemory({ ttlMs: 10 })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});
