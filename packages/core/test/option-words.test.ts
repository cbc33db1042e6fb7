import { expect, test } from "vitest";
import * as core from "../src/index.ts";
import { user } from "../src/index.ts";

/** Everything as JavaScript sees it: the types forbid what is tried here. */
type Loose = Readonly<Record<string, (...values: unknown[]) => Loose>>;
type Functions =
  | "createChatMemory"
  | "createChatMemories"
  | "inMemoryStore"
  | "keyValueStore"
  | "entry"
  | "toolResult";
const { createChatMemory, createChatMemories, inMemoryStore, keyValueStore, entry, toolResult } =
  core as unknown as Record<Functions, Loose[string]>;

const hooks = { get: () => undefined, compareAndSet: () => true, delete: () => true };
const counter = { name: "one", count: () => 1 };
const profile = {
  name: "p",
  firstMessage: "any",
  reasoning: "any",
  shape: (messages: unknown) => ({ messages, stages: [] }),
};

interface Subjects {
  readonly memory: Loose;
  readonly memories: Loose;
}

/** What a wrong option is told, to the letter: programs show it, and people search for it. */
const wrong: readonly [call: (subjects: Subjects) => unknown, says: string][] = [
  [
    () => createChatMemory({ window: null }),
    "window must have maxMessages or maxTokens; it has nothing. Leave window out to keep everything.",
  ],
  [
    () => createChatMemory({ window: [] }),
    "window must have maxMessages or maxTokens; it has nothing. Leave window out to keep everything.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 0 } }),
    "window.maxMessages must be a positive integer, or a function that answers one; it is 0.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: "3" } }),
    'window.maxMessages must be a positive integer, or a function that answers one; it is "3".',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 1.5 } }),
    "window.maxMessages must be a positive integer, or a function that answers one; it is 1.5.",
  ],
  [
    () => createChatMemory({ window: { maxTokens: -1, counter } }),
    "window.maxTokens must be a positive integer, or a function that answers one; it is -1.",
  ],
  [
    () => createChatMemory({ window: { maxTokens: 5 } }),
    'window.maxTokens needs a window.counter: await tokenCounter("gpt-4o"), or await boundCounter("anthropic"), of @turnkeep/tokens.',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, counter: {} } }),
    'window.counter must be a TokenCounter, such as await tokenCounter("gpt-4o") of @turnkeep/tokens; it is an object.',
  ],
  [
    () => createChatMemory({ window: { maxTokens: 5, counter: { name: "", count: () => 1 } } }),
    'window.counter.name must be a non-empty text; stored counts are kept under it; it is "".',
  ],
  [
    () => createChatMemory({ window: { maxTokens: 5, counter: { ...counter, base: -1 } } }),
    "window.counter.base must be a non-negative integer; it is -1.",
  ],
  [
    () => createChatMemory({ window: { maxTokens: 5, counter, reserve: -1 } }),
    "window.reserve must be a non-negative integer, or a function that answers one; it is -1.",
  ],
  [
    () => createChatMemory({ window: { maxTokens: 5, counter, reserve: 5 } }),
    "window.reserve must be smaller than window.maxTokens, which is 5; it is 5.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, reserve: 1 } }),
    "window.reserve must be given together with maxTokens; it is 1.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, unit: "word" } }),
    'window.unit must be "step", "turn" or "message"; it is "word".',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, target: 0 } }),
    "window.target must be greater than 0 and at most 1; it is 0.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, target: 1.5 } }),
    "window.target must be greater than 0 and at most 1; it is 1.5.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, target: "1" } }),
    'window.target must be greater than 0 and at most 1; it is "1".',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, cacheTtlMs: 0, target: 0.5 } }),
    "window.cacheTtlMs must be a positive integer, in milliseconds; it is 0.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, cacheTtlMs: 10 } }),
    "window.target must be below 1 with cacheTtlMs: at 1 there is no room to make early; it is 1.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, cacheTtlMs: 10, unit: "message" } }),
    'window.unit must be step or turn with cacheTtlMs: LangChain4j\'s windows know no cache; it is "message".',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, overflow: "cut" } }),
    'window.overflow must be "throw", "keep" or "evict"; it is "cut".',
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, pinned: true } }),
    "window.pinned must be a function; it is true.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, summarize: {} } }),
    "window.summarize must be a function; it is an object.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, summarize: async () => user("a"), waitUntil: 1 } }),
    "window.waitUntil must be a function; it is 1.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, waitUntil: () => {} } }),
    "window.waitUntil is for summaries: give window.summarize too, or leave it out.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, summarize: async () => user("a"), unit: "message" } }),
    'window.unit must be step or turn with summarize: LangChain4j\'s windows have no summaries; it is "message".',
  ],
  [
    () =>
      createChatMemory({ window: { maxTokens: 5, counter, summarize: async () => user("a"), target: 1 } }),
    "window.target must be below 1 with maxTokens and summarize: a summary needs room; it is 1.",
  ],
  [
    () => createChatMemory({ window: { maxMessages: 5, units: 1, targets: 2 } }),
    'window takes maxMessages, maxTokens, counter, reserve, unit, target, cacheTtlMs, overflow, pinned, summarize, waitUntil; it was given "units", "targets".',
  ],
  [() => createChatMemory({ history: 1 }), "history must be true or false; it is 1."],
  [() => createChatMemory({ systemFirst: null }), "systemFirst must be true or false; it is null."],
  [() => createChatMemory({ repair: "no" }), 'repair must be true or false; it is "no".'],
  [() => createChatMemory({ retry: 0 }), "retry must be true or false; it is 0."],
  [() => createChatMemory({ processors: {} }), "processors must be an array of processors; it is an object."],
  [
    () => createChatMemory({ profile: {} }),
    "profile must be an object such as those of @turnkeep/formats/profiles; it is an object.",
  ],
  [
    () => createChatMemory({ profile, repair: false }),
    "repair: false shows the memory as it is, a profile shows it as a provider accepts it: leave one of the two out.",
  ],
  [() => createChatMemory({ profile: { ...profile, name: 5 } }), "profile.name must be a text; it is 5."],
  [
    () => createChatMemory({ profile: { ...profile, firstMessage: "assistant" } }),
    'profile.firstMessage must be "user" or "any"; it is "assistant".',
  ],
  [
    () => createChatMemory({ profile: { ...profile, reasoning: undefined } }),
    'profile.reasoning must be "any", "none" or "bound"; it is undefined.',
  ],
  [
    () => createChatMemory({ profile: { ...profile, maxMessages: 0 } }),
    "profile.maxMessages must be a positive integer; it is 0.",
  ],
  [
    () => createChatMemory({ profile: { ...profile, storedCallIds: {} } }),
    "profile.storedCallIds must be a function; it is an object.",
  ],
  [
    () => createChatMemory({ timeoutMs: 0 }),
    "timeoutMs must be a positive integer of milliseconds below 2147483648; it is 0.",
  ],
  [
    () => createChatMemory({ timeoutMs: 2 ** 31 }),
    "timeoutMs must be a positive integer of milliseconds below 2147483648; it is 2147483648.",
  ],
  [
    () => createChatMemory({ timeoutMs: null }),
    "timeoutMs must be a positive integer of milliseconds below 2147483648; it is null.",
  ],
  [() => createChatMemory({ onEvent: {} }), "onEvent must be a function; it is an object."],
  [() => createChatMemory({ format: {} }), "format must be a MessageFormat; it is an object."],
  [() => createChatMemory({ id: "" }), 'A memory id must have 1 to 512 UTF-8 bytes, but "" has 0'],
  [() => createChatMemory({ id: 5 }), "A memory id must be a string, not number"],
  [
    () => createChatMemory({ store: {} }),
    "createChatMemory needs a store, such as inMemoryStore(); it was given an object.",
  ],
  [
    () => createChatMemory({ store: inMemoryStore() }),
    "A memory in a store needs an id: without one, all users would share one memory. Give { id, store }.",
  ],
  [
    () => createChatMemory({ id: "a", store: inMemoryStore(), owner: "" }),
    'An owner must have 1 to 512 UTF-8 bytes, but "" has 0',
  ],
  [
    () => createChatMemory({ id: "a", store: inMemoryStore(), owner: () => "anna" }),
    "An owner must be a string, not function",
  ],
  [
    () => createChatMemory({ url: 5, maxLoaded: 5 }),
    'createChatMemory\'s argument takes id, store, owner, format, window, systemFirst, systemMessages, processors, profile, repair, timeoutMs, onEvent, history, retry, ttlMs; it was given "url", "maxLoaded".',
  ],
  [
    () => createChatMemories({}),
    "createChatMemories needs a store, such as inMemoryStore(); it was given undefined.",
  ],
  [
    () => createChatMemories({ store: {} }),
    "createChatMemories needs a store, such as inMemoryStore(); it was given an object.",
  ],
  [
    () => createChatMemories({ store: inMemoryStore(), maxLoaded: 0 }),
    "maxLoaded must be a positive integer; it is 0.",
  ],
  [() => createChatMemories({ store: inMemoryStore(), owner: 5 }), "An owner must be a string, not number"],
  [
    () => createChatMemories({ store: inMemoryStore(), id: "a" }),
    'createChatMemories\' argument takes store, owner, format, window, systemFirst, systemMessages, processors, profile, repair, timeoutMs, onEvent, history, retry, ttlMs, maxLoaded; it was given "id".',
  ],
  [
    () => createChatMemories({ store: inMemoryStore(), window: {} }),
    "window must have maxMessages or maxTokens; it has nothing. Leave window out to keep everything.",
  ],
  [
    ({ memories }) => memories.get?.("a", "anna"),
    'get\'s options must be an object of options; it is "anna".',
  ],
  [
    ({ memories }) => memories.get?.("a", { owners: "anna" }),
    'get\'s options takes owner; it was given "owners".',
  ],
  [({ memories }) => memories.get?.("a", { owner: undefined }), "An owner must be a string, not undefined"],
  [({ memories }) => memories.get?.("a", {}), "An owner must be a string, not undefined"],
  [({ memories }) => memories.list?.({ limit: 0 }), "limit must be a whole number from 1 to 1000, not 0"],
  [
    ({ memories }) => memories.list?.({ cursor: "" }),
    'cursor must be the cursor of an earlier page of this store, not ""',
  ],
  [({ memories }) => memories.list?.({ owner: 5 }), "An owner must be a string, not number"],
  [
    ({ memories }) => memories.list?.({ page: 2 }),
    'list\'s argument takes owner, order, cursor, limit, signal; it was given "page".',
  ],
  [({ memories }) => memories.list?.(5), "list's argument must be an object of options; it is 5."],
  [({ memories }) => memories.list?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memories }) => memories.fork?.("a", "b", 5),
    "fork's third argument must be an object of options; it is 5.",
  ],
  [
    ({ memories }) => memories.fork?.("a", "b", { att: "x" }),
    'fork\'s third argument takes at, owner, signal; it was given "att".',
  ],
  [({ memories }) => memories.fork?.("a", "b", { owner: 5 }), "An owner must be a string, not number"],
  [({ memories }) => memories.fork?.("a", "b", { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [({ memories }) => memories.erase?.({}), "An owner must be a string, not undefined"],
  [
    ({ memories }) => memories.erase?.({ owner: "" }),
    'An owner must have 1 to 512 UTF-8 bytes, but "" has 0',
  ],
  [
    ({ memories }) => memories.erase?.({ owner: "a", dryRun: true }),
    'erase\'s argument takes owner; it was given "dryRun".',
  ],
  [
    ({ memories }) => memories.erase?.({ owner: "a" }, { dryRun: true }),
    'erase\'s options takes signal; it was given "dryRun".',
  ],
  [
    ({ memories }) => memories.erase?.({ owner: "a" }, { signal: 5 }),
    "signal must be an AbortSignal; it is 5.",
  ],
  [({ memory }) => memory.put?.("a", user("a"), 5), "put's options must be an object of options; it is 5."],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: 5 }),
    "mustExist must be true, false or what memory.anchor() answered; it is 5.",
  ],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: { life: 5 } }),
    "mustExist.life must be that of an anchor; it is 5.",
  ],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: { life: "a", messageId: "b" } }),
    "mustExist.seq must be that of an anchor; it is undefined.",
  ],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: { life: "a", messageId: "", seq: 1 } }),
    'A message id must have 1 to 256 UTF-8 bytes, but "" has 0',
  ],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: { life: "a", seq: 1 } }),
    "mustExist.seq must be that of an anchor; it is 1.",
  ],
  [
    ({ memory }) => memory.put?.("a", user("a"), { mustExist: { live: "a" } }),
    'mustExist takes life, messageId, seq; it was given "live".',
  ],
  [({ memory }) => memory.put?.("a", user("a"), { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.put?.("a", user("a"), { replace: user("b") }),
    'put\'s options takes mustExist, replaces, signal; it was given "replace".',
  ],
  [
    ({ memory }) => memory.set?.(user("a")),
    "set needs an array of at least one message. To delete all, call clear().",
  ],
  [
    ({ memory }) => memory.set?.([]),
    "set needs an array of at least one message. To delete all, call clear().",
  ],
  [
    ({ memory }) => memory.set?.([user("a")], { onConflict: "throw" }),
    'set\'s options takes signal; it was given "onConflict".',
  ],
  [({ memory }) => memory.set?.([user("a")], { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [({ memory }) => memory.compact?.(5), "compact's argument must be an object of options; it is 5."],
  [
    ({ memory }) => memory.compact?.({ through: "a", replacement: user("a"), by: 1 }),
    'compact\'s argument takes through, replacement; it was given "by".',
  ],
  [
    ({ memory }) => memory.compact?.({ through: 5, replacement: user("a") }),
    "A message id must be a string, not number",
  ],
  [
    ({ memory }) => memory.compact?.({ through: "a", replacement: user("a") }, { signals: 1 }),
    'compact\'s options takes signal; it was given "signals".',
  ],
  [
    ({ memory }) => memory.compact?.({ through: "a", replacement: user("a") }, { signal: 1 }),
    "signal must be an AbortSignal; it is 1.",
  ],
  [({ memory }) => memory.clear?.(5), "clear's options must be an object of options; it is 5."],
  [
    ({ memory }) => memory.clear?.({ history: true }),
    'clear\'s options takes signal; it was given "history".',
  ],
  [({ memory }) => memory.clear?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [({ memory }) => memory.transaction?.(5), "transaction's argument must be a function; it is 5."],
  [
    ({ memory }) => memory.transaction?.(() => 1, 5),
    "transaction's options must be an object of options; it is 5.",
  ],
  [
    ({ memory }) => memory.transaction?.(() => 1, { mustExist: 5 }),
    "mustExist must be true, false or what memory.anchor() answered; it is 5.",
  ],
  [
    ({ memory }) => memory.transaction?.(() => 1, { onConflict: 5 }),
    'onConflict must be "merge" or "throw"; it is 5.',
  ],
  [
    ({ memory }) => memory.transaction?.(() => 1, { onConflict: "throw", signal: 5 }),
    "signal must be an AbortSignal; it is 5.",
  ],
  [
    ({ memory }) => memory.transaction?.(() => 1, { timeoutMs: 5 }),
    'transaction\'s options takes mustExist, onConflict, signal; it was given "timeoutMs".',
  ],
  [({ memory }) => memory.rewind?.("a", 5), "rewind's options must be an object of options; it is 5."],
  [
    ({ memory }) => memory.rewind?.("a", { mustExist: 5 }),
    "mustExist must be true, false or what memory.anchor() answered; it is 5.",
  ],
  [
    ({ memory }) => memory.rewind?.("a", { onConflict: 5 }),
    'onConflict must be "merge" or "throw"; it is 5.',
  ],
  [({ memory }) => memory.rewind?.("a", { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.rewind?.("a", { to: 5 }),
    'rewind\'s options takes mustExist, onConflict, signal; it was given "to".',
  ],
  [({ memory }) => memory.remove?.("a", 5), "remove's options must be an object of options; it is 5."],
  [
    ({ memory }) => memory.remove?.("a", { mustExist: 5 }),
    "mustExist must be true, false or what memory.anchor() answered; it is 5.",
  ],
  [
    ({ memory }) => memory.remove?.("a", { onConflict: null }),
    'onConflict must be "merge" or "throw"; it is null.',
  ],
  [({ memory }) => memory.remove?.("a", { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.remove?.("a", { step: 5 }),
    'remove\'s options takes mustExist, onConflict, signal, only; it was given "step".',
  ],
  [({ memory }) => memory.anchor?.("a", 5), "anchor's options must be an object of options; it is 5."],
  [({ memory }) => memory.anchor?.(5), "A message id must be a string, not number"],
  [({ memory }) => memory.anchor?.("a", { signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [({ memory }) => memory.anchor?.("a", { seq: 5 }), 'anchor\'s options takes signal; it was given "seq".'],
  [({ memory }) => memory.history?.(5), "history's argument must be an object of options; it is 5."],
  [({ memory }) => memory.history?.({ after: -1 }), "after must be a safe integer of 0 or more, not -1"],
  [({ memory }) => memory.history?.({ before: "5" }), 'before must be a safe integer of 0 or more, not "5"'],
  [({ memory }) => memory.history?.({ order: "up" }), 'order must be "ascending" or "descending", not "up"'],
  [({ memory }) => memory.history?.({ limit: 0 }), "limit must be a whole number from 1 to 1000, not 0"],
  [
    ({ memory }) => memory.history?.({ states: ["gone"] }),
    'states may hold live, evicted and superseded, not "gone"',
  ],
  [({ memory }) => memory.history?.({ ids: "a" }), 'ids must be an array, not "a"'],
  [({ memory }) => memory.history?.({ ids: [5] }), "A message id must be a string, not number"],
  [({ memory }) => memory.history?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.history?.({ cursor: "a" }),
    'history\'s argument takes before, after, order, limit, states, ids, branches, signal; it was given "cursor".',
  ],
  [
    ({ memory }) => memory.historyPages?.({ cursor: "a" }).next?.(),
    'history\'s argument takes before, after, order, limit, states, ids, branches, signal; it was given "cursor".',
  ],
  [({ memory }) => memory.messages?.(5), "messages' argument must be an object of options; it is 5."],
  [
    ({ memory }) => memory.messages?.({ extra: user("a") }),
    "extra must be an array of messages; it is an object.",
  ],
  [({ memory }) => memory.messages?.({ pinned: "a" }), 'pinned must be an array of message ids; it is "a".'],
  [({ memory }) => memory.messages?.({ pinned: [5] }), "A message id must be a string, not number"],
  [
    ({ memory }) => memory.messages?.({ profile: {} }),
    "profile must be an object such as those of @turnkeep/formats/profiles; it is an object.",
  ],
  [({ memory }) => memory.messages?.({ model: 5 }), "model must be a text, such as a model's name; it is 5."],
  [({ memory }) => memory.messages?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.messages?.({ limit: 5 }),
    'messages\' argument takes profile, model, toolsKey, openCalls, extra, pinned, signal; it was given "limit".',
  ],
  [
    ({ memory }) => memory.prompt?.({ limit: 5 }),
    'messages\' argument takes profile, model, toolsKey, openCalls, extra, pinned, signal; it was given "limit".',
  ],
  [({ memory }) => memory.explain?.(5), "explain's argument must be an object of options; it is 5."],
  [
    ({ memory }) => memory.explain?.({ evicted: -1 }),
    "explain's evicted must be an integer from 0 to 1000; it is -1.",
  ],
  [
    ({ memory }) => memory.explain?.({ evicted: 1001 }),
    "explain's evicted must be an integer from 0 to 1000; it is 1001.",
  ],
  [({ memory }) => memory.explain?.({ pinned: "a" }), 'pinned must be an array of message ids; it is "a".'],
  [({ memory }) => memory.explain?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [
    ({ memory }) => memory.explain?.({ limit: 5 }),
    'explain\'s argument takes profile, model, toolsKey, openCalls, extra, pinned, signal, evicted; it was given "limit".',
  ],
  [({ memory }) => memory.calibrate?.(5), "calibrate's argument must be an object of options; it is 5."],
  [
    ({ memory }) => memory.calibrate?.({}),
    "calibrate's inputTokens must be a positive integer; it is undefined.",
  ],
  [
    ({ memory }) => memory.calibrate?.({ inputTokens: 0 }),
    "calibrate's inputTokens must be a positive integer; it is 0.",
  ],
  [
    ({ memory }) => memory.calibrate?.({ inputTokens: 5, otherTokens: 5 }),
    "otherTokens must be a non-negative integer below inputTokens, which is 5; it is 5.",
  ],
  [
    ({ memory }) => memory.calibrate?.({ inputTokens: 5, otherTokens: -1 }),
    "otherTokens must be a non-negative integer below inputTokens, which is 5; it is -1.",
  ],
  [
    ({ memory }) => memory.calibrate?.({ inputTokens: 5, cached: 1 }),
    'calibrate\'s argument takes inputTokens, otherTokens; it was given "cached".',
  ],
  [
    ({ memory }) => memory.calibrate?.({ inputTokens: 5 }),
    "calibrate corrects a window's token counts: give window.maxTokens and window.counter.",
  ],
  [({ memory }) => memory.shrink?.(5), "shrink's argument must be an object of options; it is 5."],
  [({ memory }) => memory.shrink?.({ target: 1 }), "target must be greater than 0 and less than 1; it is 1."],
  [({ memory }) => memory.shrink?.({ target: 0 }), "target must be greater than 0 and less than 1; it is 0."],
  [
    ({ memory }) => memory.shrink?.({ target: "1" }),
    'target must be greater than 0 and less than 1; it is "1".',
  ],
  [({ memory }) => memory.shrink?.({ signal: 5 }), "signal must be an AbortSignal; it is 5."],
  [({ memory }) => memory.shrink?.({ to: 5 }), 'shrink\'s argument takes target, signal; it was given "to".'],
  [() => entry(user("a")), "entry's second argument must be an object of options; it is undefined."],
  [
    () => entry(user("a"), { ids: 5 }),
    'entry\'s second argument takes id, model, toolsKey, createdAt; it was given "ids".',
  ],
  [({ memory }) => memory.add?.(entry(user("a"), { id: 5 })), "A message id must be a string, not number"],
  [
    ({ memory }) => memory.add?.(entry(user("a"), { model: 5 })),
    "An entry's model must be a text, such as a model's name.",
  ],
  [
    ({ memory }) => memory.add?.(entry(user("a"), { createdAt: -1 })),
    "An entry's createdAt must be whole milliseconds since the epoch; it is -1.",
  ],
  [() => toolResult("1", "t", "a", 5), "toolResult's options must be an object of options; it is 5."],
  [() => toolResult("1", "t", "a", { isError: 5 }), "isError must be true or false; it is 5."],
  [
    () => toolResult("1", "t", "a", { error: 5 }),
    'toolResult\'s options takes isError; it was given "error".',
  ],
  [() => inMemoryStore(5), "inMemoryStore's argument must be an object of options; it is 5."],
  [() => inMemoryStore({ ttlMs: 0 }), "ttlMs must be a positive whole number of milliseconds, not 0"],
  [() => inMemoryStore({ now: 5 }), "now must be a function; it is 5."],
  [() => keyValueStore(), "keyValueStore must be an object of options; it is undefined."],
  [
    () => keyValueStore({ ...hooks, compareAndSet: undefined }),
    "keyValueStore.compareAndSet must be a function; it is undefined.",
  ],
  [() => keyValueStore({ ...hooks, list: "keys" }), 'keyValueStore.list must be a function; it is "keys".'],
  [() => keyValueStore({ ...hooks, shared: 1 }), "keyValueStore.shared must be true or false; it is 1."],
  [
    () => keyValueStore({ ...hooks, maxMessageBytes: 0 }),
    "keyValueStore.maxMessageBytes must be a positive integer; it is 0.",
  ],
  [
    () => keyValueStore({ ...hooks, ttlMs: 0 }),
    "keyValueStore.ttlMs must be a positive whole number of milliseconds, not 0",
  ],
  [
    () => keyValueStore({ ...hooks, ttl: 5 }),
    'keyValueStore takes get, compareAndSet, delete, list, close, durable, shared, keys, maxMessageBytes, maxMemoryBytes, ttlMs, now; it was given "ttl".',
  ],
  [() => inMemoryStore({ ttl: 5 }), 'inMemoryStore\'s argument takes ttlMs, now; it was given "ttl".'],
];

test.each(wrong.map(([call, says]) => [says, call] as const))("%s", async (says, call) => {
  const subjects = {
    memory: createChatMemory({ id: "m" }),
    memories: createChatMemories({ store: inMemoryStore(), owner: "o" }),
  };
  const outcome = (async () => call(subjects))();
  await expect(outcome).rejects.toMatchObject({ code: "INVALID_OPTION", message: says });
});
