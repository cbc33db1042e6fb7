import { describe, expect, test } from "vitest";
import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type ModelMessage,
  user,
} from "../src/index.ts";

const refused = { code: "OWNER_MISMATCH", details: { memoryId: "a" } };

/** A store with a memory "a" of two messages, one of which was evicted. */
async function storeOf(owner: string | undefined): Promise<{ store: ChatMemoryStore; id: string }> {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "a", store, owner, window: { maxMessages: 1 } });
  const ids = await memory.add(user("1"), user("2"));
  return { store, id: ids[1] as string };
}

const calls: Record<string, (memory: ChatMemory<ModelMessage>, id: string) => Promise<unknown>> = {
  add: (memory) => memory.add(user("x")),
  put: (memory, id) => memory.put(id, user("x")),
  messages: (memory) => memory.messages(),
  prompt: (memory) => memory.prompt(),
  explain: (memory) => memory.explain(),
  set: (memory) => memory.set([user("x")]),
  compact: (memory, id) => memory.compact({ through: id, replacement: user("x") }),
  clear: (memory) => memory.clear(),
  "a transaction that adds": (memory) => memory.transaction(({ add }) => add(user("x"))),
  "a transaction that reads": (memory) => memory.transaction(({ messages }) => messages()),
  rewind: (memory, id) => memory.rewind(id),
  remove: (memory, id) => memory.remove(id),
  history: (memory) => memory.history(),
  historyPages: (memory) => memory.historyPages().next(),
  shrink: (memory) => memory.shrink(),
};

describe("a memory with an owner", () => {
  describe.each(Object.entries(calls))("%s", (_, call) => {
    test.each(["bob", undefined])("is refused where the memory's owner is %s", async (owner) => {
      const { store, id } = await storeOf(owner);
      const before = await store.getMessages("a");
      await expect(call(createChatMemory({ id: "a", store, owner: "ann" }), id)).rejects.toMatchObject(
        refused,
      );
      expect(await store.getMessages("a")).toEqual(before);
    });

    test("is served to the owner, and where nobody asks for one", async () => {
      for (const owner of ["ann", undefined]) {
        const { store, id } = await storeOf("ann");
        await call(createChatMemory({ id: "a", store, owner }), id);
      }
    });
  });

  test("is not told whose the memory is", async () => {
    const { store } = await storeOf("bob");
    const error: unknown = await createChatMemory({ id: "a", store, owner: "ann" })
      .messages()
      .catch((e) => e);
    expect(isTurnkeepError(error, "OWNER_MISMATCH")).toBe(true);
    expect(String(error)).not.toContain("bob");
  });

  test("of two owners who begin a memory at once one has it", async () => {
    const store = inMemoryStore();
    const all = ["ann", "bob"].map((owner) => createChatMemory({ id: "a", store, owner }));
    const results = await Promise.allSettled(all.map((memory) => memory.add(user("mine"))));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: refused });
    expect((await store.getMessages("a")).messages).toHaveLength(1);
  });

  test.each(Object.entries(calls))(
    "%s is refused once the id belongs to another's memory",
    async (_, call) => {
      const { store, id } = await storeOf("ann");
      const memory = createChatMemory({ id: "a", store, owner: "ann" });
      await memory.messages();
      await store.deleteMessages("a");
      await createChatMemory({ id: "a", store, owner: "bob" }).add(user("secret"));
      const before = await store.getMessages("a");
      await expect(call(memory, id)).rejects.toMatchObject(refused);
      expect(await store.getMessages("a")).toEqual(before);
    },
  );

  test("asks for a page of history and for its owner at once, and moves no message that is known", async () => {
    const { store } = await storeOf("ann");
    const asked: unknown[] = [];
    const counted: ChatMemoryStore = {
      ...store,
      getMessages: (id, options) => {
        asked.push(options?.known === undefined ? "messages" : "known");
        return store.getMessages(id, options);
      },
      getHistory: (id, query, options) => {
        asked.push("history");
        return store.getHistory(id, query, options);
      },
    };
    const memory = createChatMemory({ id: "a", store: counted, owner: "ann" });
    await memory.messages();
    await memory.history();
    expect(asked).toEqual(["messages", "history", "known"]);
  });
});

describe("createChatMemories", () => {
  test("gives the owner who is named in place of its own", async () => {
    const { store } = await storeOf("ann");
    const memories = createChatMemories({ store, owner: "bob" });
    await expect(memories.get("a").messages()).rejects.toMatchObject(refused);
    expect(await memories.get("a", { owner: "ann" }).messages()).toHaveLength(1);
    await memories.get("b", { owner: "ann" }).add(user("1"));
    expect((await store.getMessages("b")).owner).toBe("ann");
  });

  test("gives one instance per id and owner", async () => {
    const memories = createChatMemories({ store: inMemoryStore(), owner: (id) => id.split("/")[0] });
    const anns = memories.get("ann/1");
    expect(memories.get("ann/1", { owner: "ann" })).toBe(anns);
    expect(memories.get("ann/1", { owner: "bob" })).not.toBe(anns);
    expect(memories.get("ann/1")).toBe(anns);
    await memories.close();
  });

  test("refuses an owner that is named and missing, rather than to ask for none", async () => {
    const { store } = await storeOf("bob");
    const memories = createChatMemories({ store });
    const missing = { owner: undefined as unknown as string };
    const wrong = expect.objectContaining({ code: "INVALID_OPTION" });
    expect(() => memories.get("a", missing)).toThrow(wrong);
    await expect(memories.fork("a", "b", missing)).rejects.toEqual(wrong);
    expect(() => memories.get("a", {} as never)).toThrow(wrong);
  });

  test("forks for the owner alone", async () => {
    const { store } = await storeOf("ann");
    const memories = createChatMemories({ store });
    await expect(memories.fork("a", "b", { owner: "bob" })).rejects.toMatchObject(refused);
    await expect(createChatMemories({ store, owner: "bob" }).fork("a", "b")).rejects.toMatchObject(refused);
    expect((await store.getMessages("b")).version).toBeNull();
    const fork = await memories.fork("a", "b", { owner: "ann" });
    expect(await fork.messages()).toHaveLength(1);
    expect(memories.get("b", { owner: "ann" })).toBe(fork);
    expect((await store.getMessages("b")).owner).toBe("ann");
  });

  test("does not fork to an id that is to be another owner's", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, owner: (id) => id.split("/")[0] });
    await memories.get("ann/1").add(user("1"));
    await expect(memories.fork("ann/1", "bob/1")).rejects.toMatchObject({
      code: "OWNER_MISMATCH",
      details: { memoryId: "bob/1" },
    });
    expect((await store.getMessages("bob/1")).version).toBeNull();
  });

  test("a fork of a memory without an owner gets one", async () => {
    const { store } = await storeOf(undefined);
    const owners = new Map([["b", "ann"]]);
    const fork = await createChatMemories({ store, owner: (id) => owners.get(id) }).fork("a", "b");
    expect(await fork.messages()).toHaveLength(1);
    expect((await store.getMessages("b")).owner).toBe("ann");
  });
});
