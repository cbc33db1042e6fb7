import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type MemoryUpdate,
  type ModelMessage,
  type ProviderProfile,
  system,
  type TokenCounter,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { rewriteRecords } from "./stored-record.ts";
import { characterCounter } from "./window-reference.ts";

/** Counts what a store is asked. */
function counted(
  store: ChatMemoryStore,
): ChatMemoryStore & { reads: number; writes: number; lookups: number } {
  const counts = {
    ...store,
    reads: 0,
    writes: 0,
    lookups: 0,
    getHistory: (...given: Parameters<ChatMemoryStore["getHistory"]>) => {
      counts.lookups++;
      return store.getHistory(...given);
    },
    getMessages: (...given: Parameters<ChatMemoryStore["getMessages"]>) => {
      counts.reads++;
      return store.getMessages(...given);
    },
    updateMessages: (...given: Parameters<ChatMemoryStore["updateMessages"]>) => {
      counts.writes++;
      return store.updateMessages(...given);
    },
  };
  return counts;
}

const states = async (memory: ChatMemory<ModelMessage>): Promise<string[]> =>
  (await memory.history()).messages.map(({ message, state }) => `${textOf(message)} ${state}`);
const textOf = (message: ModelMessage): string =>
  typeof message.content === "string" ? message.content : (message.content[0]?.type ?? "");
const texts = (messages: readonly ModelMessage[]): string[] => messages.map(textOf);

/** A call that waits for the user's approval, and the approval. */
const request = assistant([
  { type: "tool-call", toolCallId: "c", toolName: "pay", input: {} },
  { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
]);
const response: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "a", approved: true }],
};

describe("add", () => {
  test("answers the ids in order, and nothing given does nothing", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store });
    expect(await memory.add()).toEqual([]);
    expect(store.writes + store.reads).toBe(0);
    const ids = await memory.add(user("a"), entry(assistant("b"), { id: "own" }));
    expect(ids).toHaveLength(2);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[1]).toBe("own");
    expect((await memory.history()).messages.map(({ id }) => id)).toEqual(ids);
  });

  test("is all or none: a bad message keeps the good ones out", async () => {
    const memory = createChatMemory();
    await expect(memory.add(user("good"), { role: "user", content: 7 } as never)).rejects.toMatchObject({
      code: "INVALID_MESSAGE",
    });
    expect(await memory.messages()).toEqual([]);
  });

  test("copies: what the caller does to a message afterwards changes nothing, and a view's messages are frozen", async () => {
    const memory = createChatMemory();
    const message = user([{ type: "text", text: "before" }]);
    await memory.add(message);
    Object.assign(message.content[0] as object, { text: "after" });
    const [shown] = await memory.messages();
    expect(shown).toEqual(user([{ type: "text", text: "before" }]));
    expect(Object.isFrozen(shown)).toBe(true);
    (await memory.messages()).pop();
    expect(await memory.messages()).toHaveLength(1);
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store }).add(user([{ type: "text", text: "stored" }]));
    const [read] = await createChatMemory({ id: "m", store }).messages();
    expect(Object.isFrozen(read) && Object.isFrozen(read?.content[0])).toBe(true);
  });

  test("what repair made is frozen too, whichever step it stands in", async () => {
    const memory = createChatMemory();
    await memory.add(user("a"), toolCall("c1", "t", {}), user("b"), toolCall("c2", "t", {}), user("c"));
    const shown = await memory.messages();
    expect(shown.map(({ role }) => role).join(" ")).toBe("user assistant tool user assistant tool user");
    for (const message of shown) {
      expect(Object.isFrozen(message)).toBe(true);
      if (Array.isArray(message.content)) expect(Object.isFrozen(message.content[0])).toBe(true);
    }
  });

  test("what a profile made is frozen too", async () => {
    const profile: ProviderProfile = {
      name: "made",
      firstMessage: "any",
      reasoning: "any",
      shape: (messages) => ({ messages: messages.map((message) => structuredClone(message)), stages: [] }),
    };
    const memory = createChatMemory({ profile });
    await memory.add(user([{ type: "text", text: "a" }]));
    const [shown] = await memory.messages();
    expect(Object.isFrozen(shown) && Object.isFrozen(shown?.content[0])).toBe(true);
  });

  test("writes once and, after the first, reads nothing", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store });
    await memory.add(user("1"));
    await memory.add(user("2"), assistant("3"));
    expect(store).toMatchObject({ reads: 1, writes: 2 });
  });

  test("tells the store no more than it adds: no owner, no head, nothing beside a message that has nothing beside it", async () => {
    const inner = inMemoryStore();
    const updates: MemoryUpdate[] = [];
    const store: ChatMemoryStore = {
      ...inner,
      updateMessages: (id, update, options) => {
        updates.push(update);
        return inner.updateMessages(id, update, options);
      },
    };
    const memory = createChatMemories({ store, owner: "ann" }).get("m");
    await memory.add(user("a"));
    await memory.add(user("b"));
    const [begun, added] = updates.map(({ owner, head, append }) => ({ owner, head, meta: append[0]?.meta }));
    expect(begun).toEqual({ owner: "ann", head: expect.any(String), meta: undefined });
    expect(added).toEqual({ owner: undefined, head: undefined, meta: undefined });
  });

  test("the same id with equal content is ignored, also when the message has left memory", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 1 } });
    const hello = entry(user("hello"), { id: "request-1" });
    await memory.add(hello, hello);
    await memory.add(hello);
    await memory.add(user("next"));
    // With a profile that binds reasoning, what is added last decides when the window makes room.
    const profile: ProviderProfile = {
      name: "binding",
      firstMessage: "any",
      reasoning: "bound",
      shape: (messages) => ({ messages: [...messages], stages: [] }),
    };
    const again = createChatMemory({ id: "m", store, window: { maxMessages: 1 }, profile });
    expect(await again.add(hello)).toEqual(["request-1"]);
    expect(store.writes).toBe(2);
    expect(await states(again)).toEqual(["hello evicted", "next live"]);
  });

  test("an id of the caller's own is looked up in history once something may stand there, not before", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 2 } });
    await memory.add(entry(user("1"), { id: "a" }));
    await memory.add(entry(user("2"), { id: "b" }));
    await memory.put("b", user("2, edited"));
    expect(store.lookups).toBe(0);
    await memory.add(entry(user("3"), { id: "c" }));
    expect(store.lookups).toBe(0);
    await memory.add(entry(user("4"), { id: "d" }));
    expect(store.lookups).toBe(1);
    await expect(memory.add(entry(user("other"), { id: "a" }))).rejects.toMatchObject({
      code: "ID_CONFLICT",
    });
    expect(store.lookups).toBe(2);
  });

  test("the same id with other content is an ID_CONFLICT, live, left or given twice at once", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1 } });
    await memory.add(entry(user("a"), { id: "x" }));
    const conflict = { code: "ID_CONFLICT", details: { messageIds: ["x"] } };
    await expect(memory.add(entry(user("b"), { id: "x" }))).rejects.toMatchObject(conflict);
    await memory.add(user("c"));
    await expect(memory.add(entry(user("b"), { id: "x" }))).rejects.toMatchObject(conflict);
    await expect(
      memory.add(entry(user("d"), { id: "y" }), entry(user("e"), { id: "y" })),
    ).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(await states(memory)).toEqual(["a evicted", "c live"]);
  });

  test("an equal system message writes nothing, another takes its place at the front", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store });
    await memory.add(user("hi"), system("one"));
    expect(texts(await memory.messages())).toEqual(["one", "hi"]);
    await memory.add(system("one"));
    expect(store.writes).toBe(1);
    await memory.add(system("two"));
    expect(texts(await memory.messages())).toEqual(["two", "hi"]);
    expect(await states(memory)).toEqual(["hi live", "one superseded", "two live"]);
    const last = createChatMemory({ id: "m", store, systemFirst: false });
    await last.add(system("three"));
    expect(texts(await last.messages())).toEqual(["hi", "three"]);
    expect(texts(await createChatMemory({ id: "m", store }).messages())).toEqual(["three", "hi"]);
  });

  test("what is ignored by an instance that knows nothing yet costs one read", async () => {
    const store = counted(inMemoryStore());
    await createChatMemory({ id: "m", store }).add(system("one"));
    store.reads = 0;
    await createChatMemory({ id: "m", store }).add(system("one"));
    expect(store).toMatchObject({ reads: 1, writes: 1 });
  });

  test("what is ignored evicts nothing either, though the window has shrunk", async () => {
    const store = counted(inMemoryStore());
    let limit = 3;
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: () => limit } });
    await memory.add(system("one"), user("1"), user("2"));
    limit = 2;
    expect(await memory.add(system("one"))).toHaveLength(1);
    expect(store.writes).toBe(1);
    expect(await states(memory)).toEqual(["one live", "1 live", "2 live"]);
    await memory.add(user("3"));
    expect(await states(memory)).toEqual(["one live", "1 evicted", "2 evicted", "3 live"]);
  });

  test("a message the store cannot hold is MESSAGE_TOO_LARGE, and the memory goes on", async () => {
    const memory = createChatMemory();
    await expect(memory.add(user("x".repeat(17 * 1024 * 1024)))).rejects.toMatchObject({
      code: "MESSAGE_TOO_LARGE",
    });
    await memory.add(user("small"));
    expect(texts(await memory.messages())).toEqual(["small"]);
  });
});

describe("put", () => {
  test("adds, then replaces in place, with its tokens", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({
      id: "m",
      store,
      window: { maxTokens: 100, counter: characterCounter },
    });
    await memory.put("answer", assistant("par"));
    await memory.add(user("next"));
    await memory.put("answer", assistant("partial"));
    await memory.put("answer", assistant("partial"));
    expect(store.writes).toBe(3);
    expect(texts(await memory.messages())).toEqual(["partial", "next"]);
    const [stored] = (await store.getMessages("m")).messages;
    expect(JSON.parse(stored?.meta ?? "{}")).toMatchObject({ tokens: { characters: 10 } });
    expect(await states(memory)).toEqual(["partial live", "next live"]);
  });

  test("what put replaces keeps its place and its time, and of the model only what the new one is given with", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    await memory.add(entry(assistant("draft"), { id: "a", model: "one" }), user("next"));
    const [before] = (await store.getMessages("m")).messages;
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(before?.createdAt ?? 0);
    const stored = async () => (await store.getMessages("m")).messages[0];
    const modelOf = async (): Promise<unknown> => JSON.parse((await stored())?.meta ?? "{}").model;
    await memory.put("a", assistant("longer draft"));
    expect(await stored()).toMatchObject({ id: "a", seq: before?.seq, createdAt: before?.createdAt });
    expect(await modelOf()).toBeUndefined();
    await memory.put("a", entry(assistant("answer"), { model: "two" }));
    expect(await modelOf()).toBe("two");
  });

  test("the id of a superseded message is an ID_CONFLICT; a system message stays one", async () => {
    const memory = createChatMemory();
    await memory.put("a", user("1"));
    await memory.rewind("a");
    await expect(memory.put("a", user("3"))).rejects.toMatchObject({
      code: "ID_CONFLICT",
      message: expect.stringContaining("superseded"),
    });
    await memory.put("b", system("s"));
    await expect(memory.put("b", user("4"))).rejects.toMatchObject({
      code: "INVALID_MESSAGE",
      details: { memoryId: "default", messageIds: ["b"] },
    });
  });

  test("a call that arrives while an answer streams makes it a step with its result", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 } });
    await memory.put("answer", assistant("let me look"));
    await memory.put("answer", toolCall("c", "look", {}));
    await memory.add(toolResult("c", "look", "found"));
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["assistant", "tool"]);
    await memory.add(user("thanks"));
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user"]);
  });
});

describe("views", () => {
  test("put replaces a message that must exist, and adds none in its place once others have deleted it", async () => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store });
    const theirs = createChatMemories({ store });
    await ours.put("answer", assistant("Good"));
    await ours.put("answer", assistant("Good mor"), { mustExist: true });
    expect(texts(await ours.messages())).toEqual(["Good mor"]);
    await theirs.get("m").clear();
    for (const id of ["answer", "nobody's"]) {
      await expect(ours.put(id, assistant("Good morning."), { mustExist: true })).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: expect.stringContaining("is not there") as string,
        details: { memoryId: "m", messageIds: [id] },
      });
    }
    expect((await store.getMessages("m")).version).toBeNull();
    await ours.put("answer", assistant("Hello."), { mustExist: false });
    expect(texts(await ours.messages())).toEqual(["Hello."]);
  });

  test.each([
    ["in one process", "the same", "approved"],
    ["in one process", "another", "denied"],
    ["in two", "the same", "approved"],
    ["in two", "another", "denied"],
  ])("of two that replace a message by %s, %s content, only one does", async (where, _, second) => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store });
    const theirs = where === "in two" ? createChatMemory({ id: "m", store }) : ours;
    const asked = assistant("asked");
    await ours.put("call", asked);
    await theirs.messages();
    const puts = [
      ours.put("call", assistant("approved"), { replaces: asked }),
      theirs.put("call", assistant(second), { replaces: asked }),
    ];
    const ends = await Promise.allSettled(puts);
    const refused = ends.filter((end) => end.status === "rejected");
    expect(refused).toMatchObject([
      { reason: { code: "VERSION_CONFLICT", details: { memoryId: "m", messageIds: ["call"] } } },
    ]);
    const won = ends[0]?.status === "fulfilled" ? "approved" : second;
    expect(texts(await ours.messages())).toEqual([won]);
    await theirs.put("call", assistant("done"), { replaces: assistant(won) });
    expect(texts(await ours.messages())).toEqual(["done"]);
    await expect(ours.put("other", asked, { replaces: asked })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("what a view or a change was asked for is copied: the caller may change it while the call waits", async () => {
    const memory = createChatMemory();
    const [first, second] = await memory.add(user("a"), user("b"), user("c"));
    const extra = [user("now")];
    const request = { through: first, replacement: user("sum") };
    const compacted = memory.compact(request);
    const view = memory.messages({ extra });
    const explained = memory.explain({ extra });
    request.through = second;
    extra.push(user("later"));
    await compacted;
    expect(texts(await view)).toEqual(["sum", "b", "c", "now"]);
    expect((await explained).messages.filter(({ state }) => state === "shown")).toHaveLength(4);
  });

  test("extra messages are shown and counted, never stored", async () => {
    const store = counted(inMemoryStore());
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 3 } });
    await memory.add(system("s"), user("1"), assistant("2"));
    expect(texts(await memory.messages({ extra: [user("now"), system("t")] }))).toEqual(["t", "2", "now"]);
    expect(texts(await memory.messages())).toEqual(["s", "1", "2"]);
    expect(store.writes).toBe(1);
  });

  test("prompt gives the system message apart", async () => {
    const memory = createChatMemory();
    expect(await memory.prompt()).toEqual({ system: undefined, messages: [] });
    await memory.add(user("hi"));
    expect(await memory.prompt()).toEqual({ system: undefined, messages: [user("hi")] });
    await memory.add(system("s"));
    expect(await memory.prompt()).toEqual({ system: system("s"), messages: [user("hi")] });
  });

  test("an overflow names what is needed and the limit, and loses nothing", async () => {
    const memory = createChatMemory({ window: { maxTokens: 20, counter: characterCounter, reserve: 5 } });
    await memory.add(user("short"));
    await memory.add(user("far too long for this window"));
    await expect(memory.messages()).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { needed: 38, limit: 20 },
    });
    expect(await states(memory)).toEqual(["short evicted", "far too long for this window live"]);
  });

  test("of a turn that is too long alone, the question, the newest step and what is pinned are shown", async () => {
    const pinned = ({ content }: ModelMessage): boolean => content === "pinned";
    const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 3, unit: "turn", pinned } });
    await memory.add(user("q"), assistant("1"), assistant("pinned"), assistant("2"), assistant("3"));
    expect(texts(await memory.messages())).toEqual(["q", "pinned", "3"]);
  });

  test("a window of messages evicts nothing that is pinned, and the newest message only where it may", async () => {
    const pinned = ({ content }: ModelMessage): boolean => content === "pinned";
    const window = { maxMessages: 2, unit: "message" as const };
    const memory = createChatMemory<ModelMessage>({ window: { ...window, pinned } });
    await memory.add(user("pinned"), user("1"), user("2"));
    expect(texts(await memory.messages())).toEqual(["pinned", "2"]);
    const viewWith = async (overflow: "throw" | "keep" | "evict"): Promise<string[]> => {
      const counter = characterCounter;
      const small = createChatMemory({ window: { ...window, maxTokens: 10, counter, overflow } });
      await small.add(user("1"), user("far too long for this window"));
      return texts(await small.messages());
    };
    expect(await viewWith("keep")).toEqual(["far too long for this window"]);
    expect(await viewWith("evict")).toEqual([]);
    await expect(viewWith("throw")).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { needed: 33, limit: 10 },
    });
  });

  test.each([
    ["step", ["11", "12"]],
    ["turn", ["11", "12"]],
    ["message", ["10", "11", "12"]],
  ] as const)(
    "of messages that are added together a window of unit %s evicts as often as its rule says: once, or with each",
    async (unit, shown) => {
      const memory = createChatMemory({ window: { maxMessages: 4, target: 0.5, unit } });
      await memory.add(...Array.from({ length: 12 }, (_, index) => user(String(index + 1))));
      expect(texts(await memory.messages())).toEqual(shown);
    },
  );

  test("a window of messages that has shrunk is applied before a message is added, as LangChain4j does", async () => {
    const counter: TokenCounter = {
      name: "length",
      count: (message, format) =>
        format.role(message) === "assistant" ? 20 : textOf(message as never).length,
    };
    let limit = 100;
    const shrunk = async (before: readonly ModelMessage[], added: ModelMessage): Promise<string[]> => {
      limit = 100;
      const memory = createChatMemory({ window: { maxTokens: () => limit, counter, unit: "message" } });
      await memory.add(...before);
      limit = 11;
      await memory.add(added);
      return texts(await memory.messages());
    };
    // The call leaves first, and so takes no result with it.
    expect(await shrunk([toolCall("c", "look", {})], toolResult("c", "look", "r"))).toEqual(["tool-result"]);
    // With the shorter system message the question would have fitted.
    expect(await shrunk([system("be helpful"), user("why?")], system("be"))).toEqual(["be"]);
  });

  test("a target is taken as it is written: 0.29 of a hundred messages are 29", async () => {
    const memory = createChatMemory({ window: { maxMessages: 100, target: 0.29 } });
    await memory.add(...Array.from({ length: 101 }, (_, index) => user(String(index))));
    expect(await memory.messages()).toHaveLength(29);
  });

  test("only a limit that is exceeded is brought down to the target", async () => {
    const long = "x".repeat(35);
    const window = { maxMessages: 4, maxTokens: 100, counter: characterCounter, target: 0.5 };
    const many = createChatMemory({ window });
    await many.add(...["a", "b", "c", long, long].map((text) => user(text)));
    expect(texts(await many.messages())).toEqual([long, long]);
    const large = createChatMemory({ window: { ...window, maxTokens: 50 } });
    await large.add(...[long, "a", "b", "c"].map((text) => user(text)));
    expect(texts(await large.messages())).toEqual(["a", "b", "c"]);
  });

  test("what leaves within a turn and then with it leaves once", async () => {
    const evicted: unknown[] = [];
    const memory = createChatMemory({
      window: { maxTokens: 20, counter: characterCounter, unit: "turn", overflow: "evict" },
      onEvent: (event) => event.type === "evicted" && evicted.push(event.messageIds),
    });
    const ids = await memory.add(user("q"), assistant("1"), assistant("2"), assistant("x".repeat(20)));
    expect(await memory.messages()).toEqual([]);
    expect(evicted).toEqual([[ids[1], ids[2], ids[0], ids[3]]]);
  });

  test("a call left unanswered shows as interrupted, and stays so when the result comes late", async () => {
    const events: MemoryEvent[] = [];
    const memory = createChatMemory({ onEvent: besideChanges(events) });
    await memory.add(user("q"), toolCall("c", "look", {}));
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
    await memory.add(user("well?"));
    const interrupted = await memory.messages();
    expect(interrupted.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    await memory.add(assistant("It was interrupted."), toolResult("c", "look", "too late"));
    const after = await memory.messages();
    expect(after.slice(0, 4)).toEqual(interrupted);
    expect(after).toHaveLength(5);
    expect(events.at(-1)).toMatchObject({ type: "repaired", interruptedCalls: ["c"] });
    const shownAsIs = createChatMemory({ repair: false });
    await shownAsIs.add(toolCall("c", "look", {}), user("well?"));
    expect(await shownAsIs.messages()).toHaveLength(2);
  });

  const call = { type: "tool-call" as const, toolCallId: "c", toolName: "look", input: {} };
  const output = { type: "text" as const, value: "r" };
  const result = { type: "tool-result" as const, toolCallId: "c", toolName: "look", output };
  const text = { type: "text" as const, text: "Let me see." };

  test("a result that comes late into the message of its call is not shown either, whatever else is put there", async () => {
    const memory = createChatMemory();
    await memory.put("a", { role: "assistant", content: [call] });
    await memory.add(user("well?"), assistant("It was interrupted."));
    const [, ...interrupted] = await memory.messages();
    await memory.put("a", { role: "assistant", content: [call, result] });
    expect(await memory.messages()).toEqual([{ role: "assistant", content: [call] }, ...interrupted]);
    await memory.put("a", {
      role: "assistant",
      content: [text, call, result],
    });
    expect(await memory.messages()).toEqual([{ role: "assistant", content: [text, call] }, ...interrupted]);
  });

  test("a result that comes in time into the message of its call is shown, whatever is put there late", async () => {
    const memory = createChatMemory();
    await memory.put("a", { role: "assistant", content: [call] });
    await memory.put("a", { role: "assistant", content: [call, result] });
    const shown = await memory.messages();
    expect(shown).toEqual([{ role: "assistant", content: [call, result] }]);
    await memory.add(user("well?"), assistant("It is done."));
    await memory.put("a", { role: "assistant", content: [text, call, result] });
    expect(await memory.messages()).toEqual([
      { role: "assistant", content: [text, call, result] },
      user("well?"),
      assistant("It is done."),
    ]);
  });

  test("a result that comes before the model went on stands behind its call", async () => {
    const memory = createChatMemory();
    await memory.add(toolCall("c", "look", {}), user("hurry"), toolResult("c", "look", "found"));
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["assistant", "tool", "user"]);
  });

  test("an approval belongs to its call", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    await memory.add(request, response, toolResult("c", "pay", "paid"));
    expect(await memory.messages()).toEqual([request, response, toolResult("c", "pay", "paid")]);
    await memory.add(user("thanks"));
    expect(await memory.messages()).toEqual([user("thanks")]);
  });

  test("a call that the provider runs itself is not answered for it", async () => {
    const memory = createChatMemory();
    const search = assistant([
      { type: "tool-call", toolCallId: "s", toolName: "web_search", input: {}, providerExecuted: true },
    ]);
    await memory.add(search, user("next"));
    expect(await memory.messages()).toEqual([search, user("next")]);
  });

  test("a provider's compaction bounds the view", async () => {
    const memory = createChatMemory();
    await memory.add(system("s"), user("old"));
    const compacted = assistant([
      { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "cmp_1" } } },
    ]);
    await memory.add(compacted, user("new"));
    expect(await memory.messages()).toEqual([system("s"), compacted, user("new")]);
    expect(await states(memory)).toEqual(["s live", "old evicted", "custom live", "new live"]);
  });

  test("a provider's compaction that calls a tool bounds the view too, and leaves in its turn", async () => {
    const memory = createChatMemory({ window: { maxMessages: 4 } });
    const compacted = assistant([
      { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "cmp_1" } } },
      { type: "tool-call", toolCallId: "c", toolName: "look", input: {} },
    ]);
    await memory.add(system("s"), user("old"), compacted, toolResult("c", "look", "found"));
    expect(await memory.messages()).toEqual([system("s"), compacted, toolResult("c", "look", "found")]);
    await memory.add(user("1"), user("2"), user("3"));
    expect(texts(await memory.messages())).toEqual(["s", "1", "2", "3"]);
    await memory.set([system("s"), user("old"), compacted, ...["1", "2", "3"].map((text) => user(text))]);
    expect(texts(await memory.messages())).toEqual(["s", "1", "2", "3"]);
  });

  test("what a provider's compaction is set together with stays, until the next one is added", async () => {
    const compacted = (itemId: string) =>
      assistant([{ type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId } } }]);
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    await memory.add(system("s"), user("old"));
    const given = [user("kept"), compacted("1"), user("and this")];
    await memory.set([system("s"), ...given]);
    await memory.add(user("new"));
    const again = createChatMemory({ id: "m", store });
    expect(await again.messages()).toEqual([system("s"), ...given, user("new")]);
    await again.rewind((await again.history()).messages.at(-1)?.id as string);
    expect(await again.messages()).toEqual([system("s"), ...given]);
    await again.add(compacted("2"), user("newest"));
    expect(await again.messages()).toEqual([system("s"), compacted("2"), user("newest")]);
  });

  test("what was summarized after such a set stays, what was evicted before it does not come back", async () => {
    const compacted = assistant([
      { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "1" } } },
    ]);
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    await memory.add(user("1"), user("2"), user("3"), user("4"));
    const [first] = await memory.set([user("kept"), compacted]);
    const [last] = await memory.add(user("new"));
    await memory.rewind(last);
    expect(await memory.messages()).toEqual([user("kept"), compacted]);
    await memory.compact({ through: first as string, replacement: user("in short") });
    expect(await memory.messages()).toEqual([user("in short"), compacted]);
  });
});

describe("set, compact, clear", () => {
  test("set replaces the memory; what was there is superseded; nothing is an error", async () => {
    const memory = createChatMemory();
    await memory.add(system("s"), user("a"));
    const given = [user("b"), system("t"), assistant("c")];
    const ids = await memory.set(given);
    given.length = 0;
    expect(ids).toHaveLength(3);
    expect(texts(await memory.messages())).toEqual(["t", "b", "c"]);
    expect(await states(memory)).toEqual(["s superseded", "a superseded", "b live", "t live", "c live"]);
    await expect(memory.set([])).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await memory.set([system("u"), user("d"), system("v")]);
    expect(texts(await memory.messages())).toEqual(["v", "d"]);
  });

  test("set after somebody else wrote is a VERSION_CONFLICT until the caller has looked", async () => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store });
    const theirs = createChatMemory({ id: "m", store });
    await ours.add(user("a"));
    await ours.messages();
    await theirs.add(user("b"));
    await expect(ours.set([user("c")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await ours.add(user("d"));
    await expect(ours.set([user("c")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(texts(await ours.messages())).toEqual(["a", "b", "d"]);
    await ours.set([user("c")]);
    expect(texts(await theirs.messages())).toEqual(["c"]);
  });

  test("rewind and remove take back nothing that their caller has not seen, if they are to", async () => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store });
    const theirs = createChatMemory({ id: "m", store });
    const [first, second] = await ours.add(user("a"), user("b"), user("c"));
    const throwing = { onConflict: "throw" } as const;
    for (const takeBack of [
      () => ours.rewind(second, throwing),
      () => ours.remove(second, throwing),
      () => ours.remove("nobody's", throwing),
    ]) {
      await ours.messages();
      await theirs.add(user("d"));
      const before = await theirs.messages();
      await expect(takeBack()).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
      expect(await theirs.messages()).toEqual(before);
    }
    // Changes of one's own are no conflict.
    await ours.messages();
    await ours.remove(first, throwing);
    await ours.rewind(second, throwing);
    expect(await ours.messages()).toEqual([]);
    await theirs.add(user("e"));
    const [late] = await theirs.add(user("f"));
    await ours.remove(late, { onConflict: "merge" });
    expect(texts(await ours.messages())).toEqual(["e"]);
  });

  test("compact puts a derived message after the system message; history never holds it", async () => {
    const memory = createChatMemory();
    const [systemId, , callId] = await memory.add(
      system("s"),
      user("q"),
      toolCall("c", "look", {}),
      toolResult("c", "look", "r"),
    );
    await memory.add(user("later"));
    const summary = user("Earlier: a question and what was found.");
    await memory.compact({ through: callId, replacement: summary });
    expect(await memory.messages()).toEqual([system("s"), summary, user("later")]);
    expect(await states(memory)).toEqual([
      "s live",
      "q evicted",
      "tool-call evicted",
      "tool-result evicted",
      "later live",
    ]);
    expect((await memory.history({ limit: 1, after: 4 })).messages.map(({ seq }) => seq)).toEqual([5]);
    const [last] = await memory.add(assistant("more"));
    const summaryId = await memory.compact({ through: last, replacement: user("all") });
    expect(await memory.messages()).toEqual([system("s"), user("all")]);
    const refused = (through: string, replacement = user("x") as ModelMessage) =>
      expect(memory.compact({ through, replacement })).rejects;
    const about = (id: string) => ({ memoryId: "default", messageIds: [id] });
    await refused(callId).toMatchObject({
      code: "VERSION_CONFLICT",
      details: about(callId),
    });
    for (const id of [systemId, summaryId])
      await refused(id).toMatchObject({ code: "INVALID_OPTION", details: about(id) });
    await refused("nobody").toMatchObject({ code: "NOT_FOUND", details: about("nobody") });
    const result = {
      type: "tool-result" as const,
      toolCallId: "c",
      toolName: "look",
      output: { type: "text" as const, value: "r" },
    };
    for (const replacement of [
      system("x"),
      toolResult("c", "look", "r"),
      assistant([result]),
      assistant([{ type: "tool-call", toolCallId: "c", toolName: "look", input: {} }]),
      assistant([{ type: "tool-approval-request", approvalId: "ask", toolCallId: "c" }]),
    ]) {
      await refused(last, replacement).toMatchObject({ code: "INVALID_MESSAGE" });
      await expect(memory.put(summaryId, replacement)).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    }
    expect(await memory.messages()).toEqual([system("s"), user("all")]);
    await memory.put(summaryId, user("all of it"));
    expect(await memory.messages()).toEqual([system("s"), user("all of it")]);
  });

  test("set under an id that a message has already, live or left, is an ID_CONFLICT, as is one given twice", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1 } });
    await memory.add(entry(user("a"), { id: "left" }), entry(user("b"), { id: "live" }));
    const same = (id: string) => entry(user("c"), { id });
    for (const messages of [[same("live")], [same("left")], [same("twice"), same("twice")]])
      await expect(memory.set(messages)).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(await states(memory)).toEqual(["a evicted", "b live"]);
  });

  test("what set replaces is no eviction, and a derived message among it is deleted", async () => {
    const store = inMemoryStore();
    const events: MemoryEvent[] = [];
    const memory = createChatMemory({ id: "m", store, onEvent: besideChanges(events) });
    const [through] = await memory.add(user("a"), user("b"));
    await memory.compact({ through, replacement: user("sum") });
    expect(events).toEqual([{ type: "evicted", memoryId: "m", messageIds: [through], reason: "compact" }]);
    await memory.set([user("c")]);
    expect(events).toHaveLength(1);
    expect(await states(memory)).toEqual(["a evicted", "b superseded", "c live"]);
    expect((await store.getHistory("m", {})).messages).toHaveLength(3);
  });

  test("a page of history that a derived message stands in is as long as it was asked for", async () => {
    const memory = createChatMemory();
    const [first] = await memory.add(user("1"), user("2"));
    await memory.compact({ through: first, replacement: user("sum") });
    await memory.add(user("4"), user("5"), user("6"));
    const { messages, hasMore } = await memory.history({ after: 2, limit: 2 });
    expect(messages.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(hasMore).toBe(true);
  });

  test("compact keeps what was added meanwhile and what is pinned", async () => {
    const store = inMemoryStore();
    const pinned = (message: ModelMessage): boolean => message.content === "pin";
    const ours = createChatMemory({ id: "m", store, window: { maxMessages: 10, pinned } });
    const theirs = createChatMemory({ id: "m", store });
    const [, , through] = await ours.add(user("pin"), user("a"), user("b"));
    await theirs.add(user("c"));
    await ours.compact({ through, replacement: user("sum") });
    expect(texts(await ours.messages())).toEqual(["sum", "pin", "c"]);
    expect(texts(await theirs.messages())).toEqual(["sum", "pin", "c"]);
  });

  test("compact ends at what memory holds or a window evicted, and at nothing that was superseded", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 } });
    const [evicted, , , superseded] = await memory.add(user("a"), user("b"), user("c"), user("d"));
    await memory.rewind(superseded);
    const upTo = (through: string) => memory.compact({ through, replacement: user("sum") });
    await expect(upTo(superseded)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await upTo(evicted);
    expect(await states(memory)).toEqual(["a evicted", "b evicted", "c live", "d superseded"]);
    expect(texts(await memory.messages())).toEqual(["sum", "c"]);
  });

  test("compact keeps the whole step of a pinned message", async () => {
    const memory = createChatMemory({ window: { maxMessages: 10, pinned: ({ role }) => role === "tool" } });
    const step = [toolCall("c", "look", {}), toolResult("c", "look", "r")] as const;
    const [, , , through] = await memory.add(user("a"), ...step, user("b"));
    await memory.compact({ through, replacement: user("sum") });
    expect(await memory.messages()).toEqual([user("sum"), ...step]);
  });

  test("clear deletes memory and history, and a message can begin it again", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1 } });
    await memory.add(user("a"), user("b"));
    await memory.clear();
    expect(await memory.messages()).toEqual([]);
    expect((await memory.history()).messages).toEqual([]);
    await memory.add(user("c"));
    expect(await states(memory)).toEqual(["c live"]);
  });

  test("set after a clear of one's own replaces nothing, and what another began since is a VERSION_CONFLICT", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    await memory.add(user("a"));
    await memory.clear();
    await memory.set([user("b")]);
    expect(texts(await memory.messages())).toEqual(["b"]);
    await memory.clear();
    await createChatMemory({ id: "m", store }).add(user("theirs"));
    await expect(memory.set([user("c")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  });

  test("without history, what leaves is deleted", async () => {
    const memory = createChatMemory({ history: false, window: { maxMessages: 2 } });
    await memory.add(system("s"), user("a"));
    await memory.add(system("t"), user("b"));
    expect(await states(memory)).toEqual(["t live", "b live"]);
  });
});

describe("rewind and remove", () => {
  test.each([
    ["step", "live"],
    ["turn", "evicted"],
  ] as const)(
    "rewind in a window of unit %s: what no user's message opens comes back %s",
    async (unit, state) => {
      const memory = createChatMemory({ window: { maxMessages: 2, unit } });
      const ids = await memory.add(assistant("hello"), user("1"));
      const [second] = await memory.add(user("2"), user("3"));
      expect(ids).toHaveLength(2);
      await memory.rewind(second);
      expect(await states(memory)).toEqual([`hello ${state}`, "1 live", "2 superseded", "3 superseded"]);
    },
  );

  test("rewind supersedes that message and all later ones, and fills the window from history", async () => {
    const memory = createChatMemory({ window: { maxMessages: 4 } });
    await memory.add(system("s"));
    const ids: string[] = [];
    for (const text of ["1", "2", "3", "4", "5", "6"]) ids.push(...(await memory.add(user(text))));
    expect(texts(await memory.messages())).toEqual(["s", "4", "5", "6"]);
    await memory.rewind(ids[4] as string);
    expect(texts(await memory.messages())).toEqual(["s", "2", "3", "4"]);
    await memory.add(user("5b"));
    expect(await states(memory)).toEqual([
      "s live",
      "1 evicted",
      "2 evicted",
      "3 live",
      "4 live",
      "5 superseded",
      "6 superseded",
      "5b live",
    ]);
    await memory.rewind(ids[1] as string);
    expect(texts(await memory.messages())).toEqual(["s", "1"]);
    await expect(memory.rewind(ids[4] as string)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memory.rewind("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("rewind brings back whole steps only, and what a summary stands for stays behind it", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    await memory.add(user("q"), toolCall("c", "look", {}), toolResult("c", "look", "r"));
    const [a] = await memory.add(assistant("a"));
    await memory.add(user("b"));
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["assistant", "user"]);
    await memory.rewind(a);
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);

    const summarized = createChatMemory({ window: { maxMessages: 6 } });
    await summarized.add(system("s"));
    const ids = await summarized.add(...["1", "2", "3", "4"].map((text) => user(text)));
    await summarized.compact({ through: ids[1] as string, replacement: user("sum") });
    await summarized.rewind(ids[3] as string);
    expect(texts(await summarized.messages())).toEqual(["s", "sum", "3"]);
    await summarized.rewind(ids[1] as string);
    expect(texts(await summarized.messages())).toEqual(["s", "1"]);
  });

  test("rewind to what has left leaves what was said before it: the newest turn's question, a pinned message", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3, unit: "turn" } });
    await memory.add(user("q"));
    const steps = await memory.add(...["1", "2", "3", "4"].map((text) => assistant(text)));
    expect(texts(await memory.messages())).toEqual(["q", "3", "4"]);
    await memory.rewind(steps[1] as string);
    expect(texts(await memory.messages())).toEqual(["q", "1"]);

    const pinning = createChatMemory<ModelMessage>({
      window: { maxMessages: 2, pinned: ({ content }) => content === "pinned" },
    });
    const [, , last] = await pinning.add(user("pinned"), user("1"), user("2"), user("3"));
    expect(texts(await pinning.messages())).toEqual(["pinned", "3"]);
    await pinning.rewind(last);
    expect(texts(await pinning.messages())).toEqual(["pinned", "1"]);
  });

  test("rewind to the system message leaves what was said before it", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    await memory.add(user("1"), user("2"));
    const [instructions] = await memory.add(system("s"));
    await memory.add(user("3"));
    await memory.rewind(instructions);
    expect(await states(memory)).toEqual(["1 live", "2 live", "s superseded", "3 superseded"]);
  });

  test("rewind to a summary leaves nothing of what was said behind it", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    const [, through] = await memory.add(user("1"), user("2"));
    const summary = await memory.compact({ through, replacement: user("sum") });
    await memory.add(user("3"), user("4"), user("5"));
    await memory.rewind(summary);
    expect(await states(memory)).toEqual([
      "1 live",
      "2 live",
      "3 superseded",
      "4 superseded",
      "5 superseded",
    ]);
    const late = createChatMemory();
    const [first] = await late.add(user("1"), user("2"), user("3"));
    await late.rewind(await late.compact({ through: first, replacement: user("sum") }));
    expect(await states(late)).toEqual(["1 live", "2 superseded", "3 superseded"]);
  });

  test("rewind fills the window down to its target, so that the next messages fit without an eviction", async () => {
    const memory = createChatMemory({ window: { maxMessages: 10, target: 0.5 } });
    const ids: string[] = [];
    for (let number = 1; number <= 11; number++) ids.push(...(await memory.add(user(String(number)))));
    expect(texts(await memory.messages())).toEqual(["7", "8", "9", "10", "11"]);
    await memory.rewind(ids[8] as string);
    expect(texts(await memory.messages())).toEqual(["4", "5", "6", "7", "8"]);
  });

  test("removing an answer to a request for approval takes the whole step with it, live or in history", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    for (const later of [[], ["1", "2", "3"].map((text) => user(text))]) {
      const step = await memory.add(request, response, toolResult("c", "pay", "paid"));
      await memory.add(...later);
      expect(await memory.remove(step[1] as string)).toEqual(step);
    }
    expect(await states(memory)).toEqual(["1 live", "2 live", "3 live"]);
  });

  test("a corrupt record that has left comes back by no rewind and no fork", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, window: { maxMessages: 3 } });
    const memory = memories.get("m");
    await memory.add(...["1", "2", "3"].map((text) => entry(user(text), { id: text })));
    await rewriteRecords(store, [1], { payload: "{broken" });
    await memory.add(...["4", "5", "6"].map((text) => entry(user(text), { id: text })));
    const fork = await memories.fork("m", "fork", { at: "4" });
    expect(texts(await fork.messages())).toEqual(["1", "3", "4"]);
    await memory.rewind("5");
    expect(texts(await memory.messages())).toEqual(["1", "3", "4"]);
    expect((await memory.history()).errors).toHaveLength(1);
  });

  test("a rewind that cannot read history leaves the memory as it was", async () => {
    const inner = inMemoryStore();
    const failure = new TurnkeepError("STORE_NOT_READY", "the table is gone");
    const store: ChatMemoryStore = { ...inner, getHistory: () => Promise.reject(failure) };
    const memory = createChatMemory({ id: "m", store });
    const [, second] = await memory.add(user("1"), user("2"));
    await expect(memory.rewind(second)).rejects.toBe(failure);
    expect(texts(await memory.messages())).toEqual(["1", "2"]);
    await memory.add(user("3"));
    expect(texts(await createChatMemory({ id: "m", store: inner }).messages())).toEqual(["1", "2", "3"]);
  });

  test("rewind leaves a result that answers nothing where it is", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 } });
    await memory.add(toolResult("nobody", "asked", "x"), user("1"));
    const [last] = await memory.add(user("2"));
    await memory.rewind(last);
    expect(await states(memory)).toEqual(["tool-result evicted", "1 live", "2 superseded"]);
  });

  test("what a rewind cannot bring back takes no room from what it can", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 } });
    const ids = await memory.add(
      user("1"),
      user("2"),
      toolResult("nobody", "asked", "x"),
      user("3"),
      user("4"),
    );
    await memory.rewind(ids[3] as string);
    expect(texts(await memory.messages())).toEqual(["1", "2"]);
  });

  test("remove deletes the whole step, live or in history", async () => {
    const memory = createChatMemory({ window: { maxMessages: 4 } });
    const [, call] = await memory.add(user("q"), toolCall("c", "look", {}), toolResult("c", "look", "r"));
    const [other] = await memory.add(user("x"));
    expect(await memory.remove(call)).toHaveLength(2);
    expect(await states(memory)).toEqual(["q live", "x live"]);
    const [, second, result] = await memory.add(
      assistant("a"),
      toolCall("d", "look", {}),
      toolResult("d", "look", "r"),
      user("y"),
      user("z"),
    );
    await memory.add(user("end"));
    expect(await states(memory)).toContain("tool-call evicted");
    expect(await memory.remove(result)).toEqual([second, result]);
    expect(await memory.remove(other)).toEqual([other]);
    expect(await memory.remove("nobody")).toEqual([]);
    expect(await states(memory)).toEqual(["q evicted", "a evicted", "y live", "z live", "end live"]);
  });

  test("remove deletes the whole step that was superseded, and not the one that calls by the same id since", async () => {
    const memory = createChatMemory();
    const step = () => [toolCall("c", "look", {}), toolResult("c", "look", "r")] as const;
    const [, call, result] = await memory.add(user("q"), ...step());
    await memory.rewind(call);
    await memory.add(...step());
    expect(await memory.remove(result)).toEqual([call, result]);
    expect(await states(memory)).toEqual(["q live", "tool-call live", "tool-result live"]);
  });

  test("removing a result that was superseded leaves its call with the result that it has now", async () => {
    const memory = createChatMemory();
    const [, , old] = await memory.add(user("q"), toolCall("c", "look", {}), toolResult("c", "look", "old"));
    await memory.rewind(old);
    await memory.add(toolResult("c", "look", "new"));
    expect(await memory.remove(old)).toEqual([old]);
    expect(await states(memory)).toEqual(["q live", "tool-call live", "tool-result live"]);
  });

  test("a corrupt record is named, does not hide the others, and can be replaced and removed", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    const [, bad] = await memory.add(user("a"), user("b"), user("c"));
    await rewriteRecords(store, [1], { payload: "{broken" });
    await expect(memory.messages()).rejects.toMatchObject({
      code: "CORRUPT_RECORD",
      details: { messageIds: [bad] },
    });
    const page = await memory.history();
    expect(texts(page.messages.map(({ message }) => message))).toEqual(["a", "c"]);
    expect(page.errors).toMatchObject([{ code: "CORRUPT_RECORD", details: { messageIds: [bad] } }]);
    const pages = [];
    for await (const next of memory.historyPages({ limit: 1 })) pages.push(...next.messages);
    expect(texts(pages.map(({ message }) => message))).toEqual(["a", "c"]);
    await memory.add(user("d"));
    const again = memory.add(entry(user("b"), { id: bad }));
    await expect(again).rejects.toMatchObject({ code: "ID_CONFLICT" });
    await memory.put(bad, user("b"));
    expect(texts(await memory.messages())).toEqual(["a", "b", "c", "d"]);
    await memory.remove(bad);
    expect(texts(await memory.messages())).toEqual(["a", "c", "d"]);
  });
});

test.each(["{broken", "5", "null", "[]"])("a message whose meta is %s is a corrupt record", async (meta) => {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "m", store });
  const [bad] = await memory.add(user("a"), user("b"));
  await rewriteRecords(store, [0], { meta });
  const error = { code: "CORRUPT_RECORD", details: { messageIds: [bad] } };
  await expect(memory.messages()).rejects.toMatchObject(error);
  const page = await memory.history();
  expect(texts(page.messages.map(({ message }) => message))).toEqual(["b"]);
  expect(page.errors).toMatchObject([error]);
});

test.each([
  ["of a later version", '{"v":2,"epoch":0}', "UNSUPPORTED_VERSION"],
  ["of no version", '{"epoch":0}', "CORRUPT_RECORD"],
  ["whose version is no number", '{"v":"2","epoch":0}', "CORRUPT_RECORD"],
  ["without an epoch", '{"v":1}', "CORRUPT_RECORD"],
  ["that is no JSON", "{broken", "CORRUPT_RECORD"],
  ["that is null", "null", "CORRUPT_RECORD"],
])("a memory's head %s is refused, and told by its id", async (_what, head, code) => {
  const store = inMemoryStore();
  await store.updateMessages("m", {
    expected: null,
    version: "v",
    nextSeq: 1,
    head,
    append: [],
    replace: [],
    move: [],
  });
  const memory = createChatMemory({ id: "m", store });
  await expect(memory.messages()).rejects.toMatchObject({ code, details: { memoryId: "m" } });
  await expect(memory.add(user("a"))).rejects.toMatchObject({ code });
  const forked = createChatMemories({ store }).fork("m", "fork");
  await expect(forked).rejects.toMatchObject({ code, details: { memoryId: "m" } });
  await memory.clear();
  await memory.add(user("a"));
  expect(texts(await memory.messages())).toEqual(["a"]);
});

test("history pages in both orders and by state, with ids, seq and time", async () => {
  const memory = createChatMemory({ window: { maxMessages: 2 } });
  for (let index = 0; index < 5; index++) await memory.add(user(String(index)));
  const forward: string[] = [];
  for await (const page of memory.historyPages({ limit: 2 }))
    forward.push(...texts(page.messages.map((m) => m.message)));
  expect(forward).toEqual(["0", "1", "2", "3", "4"]);
  const backward: string[] = [];
  for await (const page of memory.historyPages({ limit: 2, order: "descending", states: ["evicted"] })) {
    backward.push(...texts(page.messages.map(({ message }) => message)));
  }
  expect(backward).toEqual(["2", "1", "0"]);
  const { messages } = await memory.history({ after: 1, before: 4 });
  expect(messages.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(messages[0]?.createdAt).toBeGreaterThan(Date.now() - 60_000);
});

test("history finds messages by their ids, whatever became of them, and no derived one", async () => {
  const memory = createChatMemory({ window: { maxMessages: 3 } });
  const ids = await memory.add(user("0"), user("1"), user("2"), user("3"));
  await memory.rewind(ids[3] as string);
  const summary = await memory.compact({ through: ids[1] as string, replacement: user("all") });
  const asked = [ids[3], summary, "nobody's", ids[0], ids[0]] as string[];
  const found = async (query: Parameters<typeof memory.history>[0]): Promise<string[]> =>
    (await memory.history(query)).messages.map(({ message, state }) => `${textOf(message)} ${state}`);
  const page = found({ ids: asked });
  asked.length = 0;
  expect(await page).toEqual(["0 evicted", "3 superseded"]);
  expect(await found({ ids: ids.slice(0, 3), states: ["live"] })).toEqual(["2 live"]);
  expect(await found({ ids: [] })).toEqual([]);
  const pages: unknown[] = [];
  for await (const { messages } of memory.historyPages({ ids, limit: 3 })) pages.push(messages.length);
  expect(pages).toEqual([3, 1]);
  for (const wrong of ["0", [1], [""], Array.from({ length: 1001 }, String)])
    await expect(memory.history({ ids: wrong as string[] })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
});

test("the epoch rises with a set, also of what was empty, and with what a rewind brings back", async () => {
  const store = inMemoryStore();
  const pinned = ({ content }: ModelMessage): boolean => content === "pinned";
  const memory = createChatMemory<ModelMessage>({ id: "m", store, window: { maxMessages: 2, pinned } });
  const epoch = async (): Promise<unknown> => JSON.parse((await store.getMessages("m")).head ?? "{}").epoch;
  await memory.set([user("a")]);
  expect(await epoch()).toBe(1);
  await memory.clear();
  const [, , third, fourth] = await memory.add(user("1"), user("pinned"), user("3"), user("4"));
  await memory.remove(fourth);
  expect(texts(await memory.messages())).toEqual(["pinned"]);
  expect(await epoch()).toBe(2);
  await memory.rewind(third);
  expect(texts(await memory.messages())).toEqual(["1", "pinned"]);
  expect(await epoch()).toBe(3);
});

test("an entry brings when it was said, which a replacement keeps and order does not go by", async () => {
  const memory = createChatMemory({ window: { maxMessages: 2 } });
  const begun = Date.now();
  await memory.add(
    entry(user("a"), { id: "a", createdAt: 2_000 }),
    entry(assistant("b"), { id: "b", createdAt: 1_000 }),
  );
  await memory.add(user("c"));
  await memory.put("b", entry(assistant("b2"), { createdAt: 9_000 }));
  await memory.add(entry(user("a"), { id: "a", createdAt: 3_000 }));
  const { messages } = await memory.history();
  expect(messages.map(({ message }) => message.content)).toEqual(["a", "b2", "c"]);
  expect(messages.slice(0, 2).map(({ createdAt }) => createdAt)).toEqual([2_000, 1_000]);
  expect(messages[2]?.createdAt).toBeGreaterThanOrEqual(begun);
});

test("the epoch rises with whatever changes the view other than at its end, and messages keep theirs", async () => {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "m", store, window: { maxMessages: 2 } });
  const epoch = async (): Promise<unknown> => JSON.parse((await store.getMessages("m")).head ?? "{}").epoch;
  await memory.add(entry(user("a"), { model: "model-1" }));
  await memory.add(user("b"));
  expect(await epoch()).toBe(0);
  await memory.add(user("c"));
  expect(await epoch()).toBe(1);
  const [id] = await memory.add(user("d"));
  expect(await epoch()).toBe(2);
  await memory.put(id, user("d2"));
  expect(await epoch()).toBe(2);
  await memory.set([user("e")]);
  expect(await epoch()).toBe(3);
  await memory.add(system("s"));
  expect(await epoch()).toBe(4);
  const [first] = await memory.set([user("f"), user("g")]);
  expect(await epoch()).toBe(5);
  await memory.put(first as string, user("f2"));
  expect(await epoch()).toBe(6);
  const metas = (await store.getHistory("m", {})).messages.map(({ meta }) => JSON.parse(meta ?? "{}"));
  expect(metas.map((meta) => meta.epoch ?? 0)).toEqual([0, 0, 0, 1, 2, 3, 4, 4]);
  expect(metas[0].model).toBe("model-1");
});

describe("a message that answers one call twice", () => {
  const twice = {
    role: "tool" as const,
    content: [...toolResult("c1", "t", "first").content, ...toolResult("c1", "t", "second").content],
  };

  test("before its call shows the first result, behind the call", async () => {
    const memory = createChatMemory();
    await memory.add(user("Go"), twice);
    await memory.add(toolCall("c1", "t", {}));
    await memory.add(assistant("Done"));
    expect(await memory.messages()).toEqual([
      user("Go"),
      toolCall("c1", "t", {}),
      toolResult("c1", "t", "first"),
      assistant("Done"),
    ]);
  });

  test("behind its call shows the first result", async () => {
    const memory = createChatMemory();
    await memory.add(user("Go"), toolCall("c1", "t", {}), twice, assistant("Done"));
    expect(await memory.messages()).toEqual([
      user("Go"),
      toolCall("c1", "t", {}),
      toolResult("c1", "t", "first"),
      assistant("Done"),
    ]);
  });
});
