import { expect, test } from "vitest";
import {
  createChatMemories,
  createChatMemory,
  decodePayload,
  encodePayload,
  entry,
  inMemoryStore,
  keyValueStore,
  modelMessageFormat,
  singleSlotStore,
  toolResult,
  user,
} from "../src/index.ts";
import {
  applyProcessors,
  joinNeighbours,
  orderToolResults,
  redact,
  stripMedia,
  stripReasoning,
  tokenLimiter,
  toolCallFilter,
  truncateToolResults,
} from "../src/processors.ts";
import { callDriver, nameText, takeStoreOptions } from "../src/store-kit.ts";
import { mapHooks } from "./stores-support.ts";

const memory = createChatMemory();
const memories = createChatMemories({ store: inMemoryStore(), owner: (id) => id.slice(1) });
const compact = (through: string) => memory.compact({ through, replacement: user("b") });
const counter = { name: "one", count: () => 1 };

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** As of a library that knows half of what a signal is. */
const halfSignal = { aborted: false, addEventListener: () => {} };

/** What the types forbid, and JavaScript does not. */
test.each<[string, (wrong: never) => unknown, unknown, RegExp]>([
  ["options", createChatMemory, "chat-1", /createChatMemory's argument .*"chat-1"/],
  ["options of many memories", createChatMemories, "chat-1", /createChatMemories' argument .*"chat-1"/],
  ["entry's options", (options) => entry(user("a"), options), undefined, /entry's .*undefined/],
  ["extra messages", (extra) => memory.messages({ extra }), user("a"), /^extra .*an object/],
  ["extra messages to explain", (extra) => memory.explain({ extra }), user("a"), /^extra .*an object/],
  ["a view's profile", (profile) => memory.messages({ profile }), "openai", /^profile .*"openai"/],
  ["a view's model", (model) => memory.messages({ model }), 5, /^model .*a text.*5/],
  [
    "whether a message must exist",
    (mustExist) => memory.put("a", user("a"), { mustExist }),
    "yes",
    /^mustExist .*true, false or .*anchor.*"yes"/,
  ],
  ["the id of a put, forgotten", (id) => memory.put(id, user("a")), undefined, /id must be a string/],
  ["the id of a put, absent in a database", (id) => memory.put(id, user("a")), null, /id must be a string/],
  ["an entry of another id", (message) => memory.put("a", message), entry(user("a"), { id: "b" }), /another/],
  ["a signal of a view", (signal) => memory.messages({ signal }), 5, /^signal .*5/],
  ["a signal of null", (signal) => memory.messages({ signal }), null, /^signal .*null/],
  ["a signal of a change", (signal) => memory.put("a", user("a"), { signal }), {}, /^signal .*an object/],
  ["a transaction's function", (run) => memory.transaction(run), 5, /^transaction's .*5/],
  [
    "what a transaction does on a conflict",
    (onConflict) => memory.transaction(() => 1, { onConflict }),
    "retry",
    /^onConflict .*"merge" or "throw".*"retry"/,
  ],
  [
    "what a rewind does on a conflict",
    (onConflict) => memory.rewind("a", { onConflict }),
    "retry",
    /^onConflict .*"merge" or "throw".*"retry"/,
  ],
  [
    "what a removal does on a conflict",
    (onConflict) => memory.remove("a", { onConflict }),
    "retry",
    /^onConflict .*"merge" or "throw".*"retry"/,
  ],
  [
    "a window that limits nothing",
    (window) => createChatMemory({ window }),
    { maxMessage: 3 },
    /it has maxMessage\./,
  ],
  ["a window of another type", (window) => createChatMemory({ window }), 5, /window must be an object .*5/],
  ["a window of nothing", (window) => createChatMemory({ window }), {}, /it has nothing\./],
  ["null for options", createChatMemory, null, /createChatMemory's argument .*null/],
  ["no options of many memories", createChatMemories, undefined, /createChatMemories' argument .*undefined/],
  ["a query of history", (query) => memory.history(query), 10, /history's argument .*10/],
  [
    "no request to compact",
    (request) => memory.compact(request),
    undefined,
    /compact's argument .*undefined/,
  ],
  ["no request to erase", (request) => memories.erase(request), undefined, /erase's argument .*undefined/],
  [
    "a count of another type",
    (inputTokens) => memory.calibrate({ inputTokens }),
    "100",
    /inputTokens .*positive integer; it is "100"/,
  ],
  [
    "what an async counter answers",
    (count) => createChatMemory({ window: { maxTokens: 9, counter: { name: "c", count } } }).add(user("a")),
    async () => 5,
    /"c" answered a promise/,
  ],
  [
    "what pinned answers",
    (pinned) => createChatMemory({ window: { maxMessages: 9, pinned } }).add(user("a")),
    async () => true,
    /window\.pinned must be .*a promise/,
  ],
  [
    "a message to rewind to",
    (id) => memory.rewind(id),
    user("a"),
    /^A message id must be a string, not object/,
  ],
  ["a message to remove", (id) => memory.remove(id), user("a"), /^A message id .*not object/],
  ["a message to compact", (through) => compact(through), user("a"), /^A message id .*not object/],
  ["a number to rewind to", (id) => memory.rewind(id), 5n, /^A message id .*not bigint/],
  [
    "an entry's id, told when it is given",
    (id) =>
      memory.transaction(({ add }) => {
        add(entry(user("a"), { id }));
        throw new Error("It came through.");
      }),
    5,
    /^A message id .*not number/,
  ],
  [
    "an entry's model",
    (model) => memory.add(entry(user("a"), { model })),
    5,
    /^An entry's model must be a text/,
  ],
  [
    "an entry's time as text",
    (createdAt) => memory.add(entry(user("a"), { createdAt })),
    "2026-01-01",
    /^An entry's createdAt must be whole milliseconds since the epoch; it is "2026-01-01"/,
  ],
  [
    "an entry's time in seconds",
    (createdAt) => memory.add(entry(user("a"), { createdAt })),
    1.5e9 + 0.5,
    /createdAt/,
  ],
  [
    "an entry's time before the epoch",
    (createdAt) => memory.put("a", entry(user("a"), { createdAt })),
    -1,
    /-1/,
  ],
  ["an id to get", (id) => memories.get(id), 5, /^A memory id .*not number/],
  ["an id to fork from", (id) => memories.fork(id, "b"), 5, /^A memory id .*not number/],
  ["an id to fork to", (id) => memories.fork("nobody's", id), 5, /^A memory id .*not number/],
  ["a state that is no list", (states) => memory.history({ states }), "live", /^states must be an array/],
  ["states of null", (states) => memory.history({ states }), null, /^states must be an array, not null/],
  ["options of a tool's result", (options) => toolResult("1", "t", "no", options), true, /options .*true/],
  [
    "whether a tool failed",
    (isError) => toolResult("1", "t", "no", { isError }),
    "yes",
    /^isError .*true or false.*"yes"/,
  ],
  [
    "options of processors",
    (options) => applyProcessors([], [], options),
    [],
    /applyProcessors' third argument .*an array/,
  ],
  ["messages not awaited", (messages) => applyProcessors(messages, []), memory.messages(), /a promise/],
  [
    "a long option",
    (unit) => createChatMemory({ window: { maxMessages: 9, unit } }),
    "x".repeat(1e6),
    /^.{100,250}$/,
  ],
  [
    "an address as options",
    createChatMemory,
    "postgres://app:s3cret@host/chat",
    /it is an address \(not shown\)/,
  ],
  [
    "options not awaited",
    createChatMemory,
    Promise.resolve({ window: { maxMessages: 5 } }),
    /a promise: await/,
  ],
  ["options that cannot be read", createChatMemory, revoked(), /an object that cannot be read/],
  [
    "a signal that ends no wait",
    (signal) => memory.clear({ signal }),
    halfSignal,
    /^signal .*an AbortSignal/,
  ],
  [
    "a signal of a store",
    (signal) => inMemoryStore().getMessages("a", { signal }),
    {},
    /^signal .*an object/,
  ],
  [
    "a signal of a driver's call",
    (signal) => callDriver("myStore", async () => 1, signal),
    5,
    /^signal must be an AbortSignal; it is 5/,
  ],
  [
    "a signal of processors",
    (signal) => applyProcessors([user("a")], [stripMedia()], { signal }),
    "now",
    /^signal .*"now"/,
  ],
  [
    "a format of processors",
    (format) => applyProcessors([user("a")], [stripMedia()], { format }),
    {},
    /^format .*an object/,
  ],
  [
    "messages to join",
    (messages) => joinNeighbours(messages, { format: modelMessageFormat }),
    user("a"),
    /^joinNeighbours' first argument .*an array of messages; it is an object/,
  ],
  [
    "a format to join by",
    (format) => joinNeighbours([], { format }),
    null,
    /^joinNeighbours' second .*format/,
  ],
  [
    "which may be joined",
    (mayJoin) => joinNeighbours([], { format: modelMessageFormat, mayJoin }),
    true,
    /^mayJoin must be a function; it is true/,
  ],
  [
    "messages to order",
    (messages) => orderToolResults(messages, { format: modelMessageFormat }),
    "a",
    /^orderToolResults' first argument .*"a"/,
  ],
  ["a limit given as a function", (limit) => memory.history({ limit }), () => 5, /not a function$/],
  ["a format's name", (name) => encodePayload(name, 1, "a"), undefined, /^format .*undefined/],
  ["a format's version", (version) => encodePayload("f", version, "a"), Number.NaN, /^version .*NaN/],
  ["a version to read", (version) => decodePayload("{}", "f", version), "1", /^version .*"1"/],
  ["a store not awaited", (store) => createChatMemory({ id: "a", store }), Promise.resolve(), /a promise/],
  ["a store not called", (store) => createChatMemory({ id: "a", store }), inMemoryStore, /a function/],
])("wrong %s: INVALID_OPTION that says what it is", async (_, call, wrong, says) => {
  const outcome = (async () => call(wrong as never))();
  await expect(outcome).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringMatching(says),
  });
});

const misspeltRules = {
  factory: "myStore",
  client: { method: "send", is: "a Wire" },
  schemes: ["wire://"],
  config: "new Wire(config)",
  option: ["ttlMs"],
};

/** Options whose names are slightly wrong, and what they are given to. */
test.each<[string, (misspelt: never) => unknown, object]>([
  ["createChatMemory's argument", createChatMemory, { timeout: 5 }],
  ["createChatMemory's argument", createChatMemory, { ttlMs: 5, windows: { maxMessages: 5 } }],
  ["createChatMemories' argument", createChatMemories, { store: inMemoryStore(), maxMemories: 5 }],
  ["window", (window) => createChatMemory({ window }), { maxMessages: 5, units: "turn" }],
  ["history's argument", (query) => memory.history(query), { limt: 10 }],
  ["messages' argument", (view) => memory.messages(view), { profil: undefined, models: "a" }],
  ["messages' argument", (view) => memory.prompt(view), { profil: {} }],
  ["messages' argument", (view) => memory.transaction((inside) => inside.messages(view)), { extras: [] }],
  ["explain's argument", (view) => memory.explain(view), { evict: 5 }],
  ["shrink's argument", (options) => memory.shrink(options), { targets: 0.5 }],
  ["transaction's options", (options) => memory.transaction(() => {}, options), { onConflicts: "throw" }],
  ["put's options", (options) => memory.put("a", user("a"), options), { mustExists: true }],
  ["rewind's options", (options) => memory.rewind("a", options), { onConflicts: "throw" }],
  ["remove's options", (options) => memory.remove("a", options), { onConflicts: "throw" }],
  ["set's options", (options) => memory.set([user("a")], options), { signals: [] }],
  [
    "compact's options",
    (options) => memory.compact({ through: "a", replacement: user("b") }, options),
    { timeoutMs: 5 },
  ],
  ["clear's options", (options) => memory.clear(options), { id: "a" }],
  ["erase's options", (options) => memories.erase({ owner: "a" }, options), { limit: 5 }],
  ["entry's second argument", (options) => entry(user("a"), options), { ids: "request-1" }],
  ["list's argument", (query) => memories.list(query), { owners: "a" }],
  ["fork's third argument", (options) => memories.fork("a", "b", options), { until: "a" }],
  ["inMemoryStore's argument", inMemoryStore, { ttl: 60 }],
  ["keyValueStore", keyValueStore, { ...mapHooks(), ttl: 60 }],
  ["singleSlotStore", singleSlotStore, { ttlMs: 60 }],
  ["toolResult's options", (options) => toolResult("1", "t", "no", options), { isErr: true }],
  ["applyProcessors' third argument", (options) => applyProcessors([], [], options), { fromat: {} }],
  ["stripMedia", stripMedia, { keepLast: 2 }],
  ["stripReasoning", stripReasoning, { keepLast: 2 }],
  ["redact", redact, { patterns: [/a/], replace: "b" }],
  ["toolCallFilter", toolCallFilter, { exlude: ["search"] }],
  ["truncateToolResults", truncateToolResults, { maxTokens: 50, counter, heads: 5 }],
  ["tokenLimiter", tokenLimiter, { limit: 5, counter, reserved: 1 }],
  [
    "joinNeighbours' second argument",
    (options) => joinNeighbours([user("a")], options),
    { format: modelMessageFormat, mayJion: () => true },
  ],
  [
    "orderToolResults' second argument",
    (options) => orderToolResults([user("a")], options),
    { format: modelMessageFormat, formats: modelMessageFormat },
  ],
  ["nameText's rules", nameText, { forbiden: /[{}]/ }],
  ["takeStoreOptions' rules", (rules) => takeStoreOptions({ url: "wire://h" }, rules), misspeltRules],
])("%s refuses a name that it does not know, and says those that it takes", async (name, call, misspelt) => {
  const unknown = Object.keys(misspelt).at(-1);
  const outcome = (async () => call(misspelt as never))();
  await expect(outcome).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringMatching(new RegExp(`^${name} takes .*; it was given .*"${unknown}"\\.$`)),
  });
});

test.each([
  ["set", (messages: never) => memory.set(messages)],
  ["messages", (extra: never) => memory.messages({ extra })],
])("a hole in the list that %s is given is INVALID_MESSAGE", async (_, call) => {
  await expect(call(new Array(1) as never)).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
});

test.each<[string, unknown]>([
  ["null", null],
  ["a text", "secret"],
  ["another shape", { text: "secret" }],
  ["parts without parts", { role: "user", content: { secret: 1 } }],
  ["a proxy that cannot be read", revoked()],
])("for processors, %s is no message: INVALID_MESSAGE that names its place", async (_, wrong) => {
  const outcome = applyProcessors([user("a"), wrong as never], [stripMedia()]);
  await expect(outcome).rejects.toMatchObject({
    code: "INVALID_MESSAGE",
    message: expect.stringMatching(/^messages\[1\] is (?!.*secret)/),
  });
});

test("a message that cannot be read is INVALID_MESSAGE", async () => {
  await expect(memory.add(revoked() as never)).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
});

test("what an instance of a class holds beside its hooks, or beside its format, is its own", async () => {
  class Values {
    readonly client: Map<string, string> = new Map();
    get(key: string) {
      const value = this.client.get(key);
      return value === undefined ? undefined : { value, revision: value };
    }
    compareAndSet(key: string, value: string) {
      this.client.set(key, value);
      return true;
    }
    delete(key: string) {
      return this.client.delete(key);
    }
  }
  const own = createChatMemory({ id: "m", store: keyValueStore(new Values()) });
  await own.add(user("a"));
  expect(await applyProcessors(await own.messages(), [], own)).toEqual([user("a")]);
});

test("an option that is undefined is as if left out, whatever its name", () => {
  createChatMemory({ timeout: undefined } as object);
  expect(toolResult("1", "t", "ok", { isErr: undefined } as object)).toEqual(toolResult("1", "t", "ok"));
});

test("where a compaction cannot end is told, with the message's id", async () => {
  const own = createChatMemory({ store: inMemoryStore(), id: "m" });
  const [first] = await own.add(user("a"), user("b"));
  const summary = await own.compact({ through: first, replacement: user("a, in short") });
  const again = own.compact({ through: summary, replacement: user("shorter") });
  await expect(again).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("compact cannot end at"),
    details: { messageIds: [summary] },
  });
  await expect(own.compact({ through: "nobody's", replacement: user("b") })).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringContaining("There is no such message"),
    details: { messageIds: ["nobody's"] },
  });
});
