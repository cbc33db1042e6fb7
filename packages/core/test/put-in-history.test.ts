import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  inMemoryStore,
  keyValueStore,
  type MemoryEvent,
  type MemoryUpdate,
  type ModelMessage,
  recallTool,
  singleSlotStore,
  system,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { losing } from "./meeting-store.ts";
import { mapHooks } from "./stores-support.ts";
import { withoutHistory } from "./without-history.ts";

type Memory = ChatMemory<ModelMessage>;

const message = (id: string) => entry(user(id), { id });
const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);
const history = async (memory: Memory): Promise<unknown[]> =>
  (await memory.history()).messages.map(
    ({ id, state, message: { content } }) => `${id} ${state}: ${content}`,
  );

/** A memory of two messages, "c" and "d", from which "a" and "b" have left; with the updates that it sends. */
async function setUp(store: ChatMemoryStore = inMemoryStore()) {
  const sent: MemoryUpdate[] = [];
  const events: MemoryEvent[] = [];
  const watched: ChatMemoryStore = {
    ...store,
    updateMessages: (id, update, options) => {
      sent.push(update);
      return store.updateMessages(id, update, options);
    },
  };
  const open = (by: ChatMemoryStore): Memory =>
    createChatMemory({
      id: "m",
      store: by,
      window: { maxMessages: 2 },
      onEvent: (event) => events.push(event),
    });
  const memory = open(watched);
  for (const id of ["a", "b", "c", "d"]) await memory.add(message(id));
  sent.length = 0;
  events.length = 0;
  return { memory, store, open, sent, events };
}

describe("put on what has left memory", () => {
  test.each<[string, () => ChatMemoryStore]>([
    ["inMemoryStore", () => inMemoryStore()],
    ["singleSlotStore", () => singleSlotStore()],
    ["keyValueStore", () => keyValueStore(mapHooks())],
  ])("%s: replaces it in history, and the view stays as it is", async (_, create) => {
    const { memory, sent, events } = await setUp(create());
    const before = (await memory.history()).messages;
    const view = await memory.messages();
    await memory.put("a", user("A"));
    expect(await memory.messages()).toEqual(view);
    expect(await history(memory)).toEqual(["a evicted: A", "b evicted: b", "c live: c", "d live: d"]);
    const [first] = (await memory.history()).messages;
    expect(first).toMatchObject({ seq: before[0]?.seq, createdAt: before[0]?.createdAt });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      append: [],
      move: [],
      head: undefined,
      replace: [{ id: "a", state: "evicted" }],
    });
    expect(
      events.map((event) => ("messageIds" in event ? [event.type, ...event.messageIds] : event.type)),
    ).toEqual([["replaced", "a"], "committed"]);
  });

  test("writes nothing for equal content, and adds no second message", async () => {
    const { memory, sent } = await setUp();
    await memory.put("a", user("a"));
    expect(sent).toEqual([]);
    await memory.put("a", user("a"), { mustExist: true });
    await memory.put("x", user("x"));
    expect(await history(memory)).toContain("x live: x");
  });

  test("is guarded by replaces, mustExist and an anchor", async () => {
    const { memory } = await setUp();
    const stale = memory.put("a", user("A"), { replaces: user("other") });
    await expect(stale).rejects.toMatchObject({ code: "VERSION_CONFLICT", details: { messageIds: ["a"] } });
    await memory.put("a", user("A"), { replaces: user("a"), mustExist: true });
    const anchor = await memory.anchor("a");
    await memory.put("a", user("AA"), { mustExist: anchor });
    expect(await history(memory)).toContain("a evicted: AA");
    await memory.rewind("a");
    await expect(memory.put("b", user("B"), { mustExist: true })).rejects.toMatchObject({
      code: "ID_CONFLICT",
    });
    await expect(memory.put("b", user("B"), { mustExist: anchor })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("by two at once with the same replaces succeeds once, also for equal content", async () => {
    const { memory, open, store } = await setUp();
    const theirs = open(store);
    const both = [memory, theirs].map((each) => each.put("a", user("A"), { replaces: user("a") }));
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "VERSION_CONFLICT" },
    });
  });

  test("is recognised when its answer was lost, also after others have written", async () => {
    const { memory, open, store, events } = await setUp();
    const ours = open(losing(store, () => memory.add(message("e"))));
    await ours.put("a", user("A"), { replaces: user("a") });
    expect(await history(memory)).toContain("a evicted: A");
    expect(events.filter(({ type }) => type === "replaced")).toHaveLength(1);
  });

  test("cannot make another role of a system message, or the reverse", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 }, systemMessages: "positioned" });
    await memory.add(
      system("prompt"),
      entry(system("now"), { id: "s" }),
      message("a"),
      message("b"),
      message("c"),
    );
    expect(await history(memory)).toContain("s evicted: now");
    await expect(memory.put("s", user("x"))).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    await expect(memory.put("a", system("x"))).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    await memory.put("s", system("then"));
    expect(await history(memory)).toContain("s evicted: then");
  });

  test("adds the message anew where no history is kept", async () => {
    for (const policy of [
      { store: withoutHistory(inMemoryStore()) },
      { store: inMemoryStore(), history: false },
    ]) {
      const memory = createChatMemory({ id: "m", window: { maxMessages: 1 }, ...policy });
      await memory.add(message("a"), message("b"));
      await memory.put("a", user("A"));
      expect(await texts(memory)).toEqual(["A"]);
    }
  });

  test("counts it anew, and keeps what tells its place", async () => {
    const counter: TokenCounter = {
      name: "letters",
      count: (said, format) =>
        format.pieces(said).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
    };
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store, window: { maxTokens: 3, target: 1, counter } });
    await memory.add(message("a"), message("b"));
    await memory.rewind("b");
    await memory.add(message("c"), message("ddd"));
    const meta = async () =>
      JSON.parse((await store.getHistory("m", { ids: ["c"] })).messages[0]?.meta ?? "");
    const before = await meta();
    expect(before).toMatchObject({ tokens: { letters: 1 }, parent: 1 });
    await memory.put("c", entry(user("CC"), { model: "one" }));
    expect(await meta()).toEqual({ ...before, tokens: { letters: 2 }, model: "one" });
    await memory.rewind("ddd");
    expect(await texts(memory)).toEqual(["a", "CC"]);
  });
});

describe("what was replaced in history", () => {
  test("comes back by a rewind, in the same transaction too", async () => {
    const { memory, sent } = await setUp();
    await memory.put("b", user("B"));
    await memory.rewind("d");
    expect(await texts(memory)).toEqual(["B", "c"]);
    sent.length = 0;
    await memory.transaction((edit) => {
      edit.put("a", user("A"));
      edit.rewind("c");
      edit.put("a", user("AA"));
    });
    expect(await texts(memory)).toEqual(["AA", "B"]);
    expect(sent).toMatchObject([{ replace: [{ id: "a", state: "evicted" }] }]);
    expect(sent[0]?.move).toContainEqual({ seq: 1, to: "live" });
  });

  test("is replaced as what it was when the transaction began", async () => {
    const { memory, sent } = await setUp();
    await memory.transaction((edit) => {
      edit.compact({ through: "c", replacement: user("sum") });
      edit.put("c", user("C"));
      edit.add(message("e"), message("f"));
      edit.put("e", user("E"));
    });
    expect(await history(memory)).toEqual([
      "a evicted: a",
      "b evicted: b",
      "c evicted: C",
      "d evicted: d",
      "e evicted: E",
      "f live: f",
    ]);
    // What it has itself added is added as it is then.
    expect(sent[0]?.replace).toMatchObject([{ id: "c" }]);
    expect(sent[0]?.replace[0]).not.toHaveProperty("state");
  });

  test("is seen in the transaction that replaced it, and superseded with the rest", async () => {
    const { memory } = await setUp();
    await memory.transaction((edit) => {
      edit.put("b", user("B"));
      edit.rewind("a");
      edit.add(message("x"));
    });
    expect(await history(memory)).toContain("b superseded: B");
    await memory.restore("b");
    expect(await texts(memory)).toEqual(["c", "d"]);
    expect(await history(memory)).toContain("b evicted: B");
  });

  test("is what the model recalls, and what a pinned view shows", async () => {
    const { memory } = await setUp();
    await memory.put("a", user("Bergen"));
    expect(await recallTool(memory).execute({ query: "bergen" })).toContain("Bergen");
    expect((await memory.messages({ pinned: ["a"] })).map(({ content }) => content)).toContain("Bergen");
  });

  test("leaves the summary that was made of it as it is", async () => {
    const memory = createChatMemory();
    await memory.add(message("a"), message("b"));
    await memory.compact({ through: "a", replacement: user("about a") });
    await memory.put("a", user("A"));
    expect(await texts(memory)).toEqual(["about a", "b"]);
  });

  test("does not bring half a step back: a result whose call is gone stays where it is", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 3 } });
    await memory.add(
      message("q"),
      entry(toolCall("c", "look", {}), { id: "call" }),
      toolResult("c", "look", "found"),
    );
    await memory.add(message("d"), message("e"), message("f"));
    await memory.put("call", assistant("I looked."));
    await memory.rewind("d");
    expect(await texts(memory)).toEqual(["q", "I looked."]);
    const states = (await memory.history()).messages.map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual(["live", "live", "evicted"]);
  });

  test("shows no result that came into it after the model had gone on", async () => {
    const call = { type: "tool-call" as const, toolCallId: "c", toolName: "look", input: {} };
    const output = { type: "text" as const, value: "r" };
    const result = { type: "tool-result" as const, toolCallId: "c", toolName: "look", output };
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    await memory.put("call", { role: "assistant", content: [call] });
    await memory.add(user("well?"), assistant("It was interrupted."));
    await memory.put("call", { role: "assistant", content: [call, result] });
    const answer = (await memory.entries()).at(-1);
    expect(await history(memory)).toContainEqual(expect.stringContaining("call evicted"));
    await memory.rewind(answer?.id as string);
    const [first] = await memory.messages();
    expect(first).toEqual({ role: "assistant", content: [call] });
  });
});
