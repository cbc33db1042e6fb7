/** Compiled by the type check, never run: what the options of a memory infer and refuse. */

import type * as core from "../../src/index.ts";
import {
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  isTurnkeepError,
  keyValueStore,
  singleSlotStore,
  user,
} from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void => undefined;

interface Note {
  by: "me" | "you";
  note: string;
}
declare const notes: core.MessageFormat<Note>;
declare const counter: core.TokenCounter;

export async function aFormatDecidesTheType(): Promise<void> {
  const memory = createChatMemory({
    format: notes,
    window: {
      maxMessages: 4,
      pinned: (message) => {
        same<typeof message, Note>();
        return message.by === "me";
      },
      summarize: async (evicted, { previous, signal, maxTokens }): Promise<Note> => {
        same<typeof evicted, readonly Note[]>();
        same<typeof previous, Note | undefined>();
        same<typeof signal, AbortSignal>();
        same<typeof maxTokens, number | undefined>();
        return previous ?? { by: "me", note: "sum" };
      },
      waitUntil: (work) => same<typeof work, Promise<void>>(),
    },
  });
  same<typeof memory, core.ChatMemory<Note>>();
  await memory.add({ by: "me", note: "milk" });
  same<Awaited<ReturnType<typeof memory.messages>>, Note[]>();
  same<Awaited<ReturnType<typeof memory.prompt>>["system"], Note | undefined>();
  // @ts-expect-error not the format's type
  await memory.add(user("Hello"));

  const memories = createChatMemories({ store: inMemoryStore(), format: notes });
  same<typeof memories, core.ChatMemories<Note>>();
}

/** Inline, as they are written in an editor: nothing states their type. */
export function literalsOfAnyFormatKeepTheirKind(store: core.ChatMemoryStore): void {
  const policy: core.MemoryPolicy<Note> = {
    window: { maxMessages: 4, summarize: async () => ({ by: "me", note: "sum" }) },
  };
  createChatMemory({ ...policy, format: notes });
  createChatMemory({
    format: notes,
    window: { maxMessages: 4, summarize: async (evicted) => evicted[0] ?? { by: "me", note: "sum" } },
    processors: [{ name: "last", process: (messages) => [...messages, { by: "you", note: "Answer." }] }],
  });
  createChatMemories({
    store,
    format: deep,
    window: { maxMessages: 4, summarize: (_) => ({ parts: [{ kind: "text", of: { kind: "me" } }] }) },
  });
  createChatMemory({
    format: notes,
    // @ts-expect-error not who it can be by
    window: { maxMessages: 4, summarize: async (_evicted) => ({ by: "us", note: "sum" }) },
  });
}

declare const deep: core.MessageFormat<{ parts: { kind: "text" | "file"; of: { kind: "me" | "you" } }[] }>;

export function ofAnyTypeOfMessage<M>(format: core.MessageFormat<M>, more: core.MemoryPolicy<M>): void {
  createChatMemory({ ...more, format });
}

export function onlyTheFormatDecidesTheType(): void {
  createChatMemory({
    format: notes,
    // @ts-expect-error a policy for another type does not widen the memory's
    window: { maxMessages: 4, pinned: (message: { by: "me"; more: number }) => message.more > 0 },
  });
}

export async function theDefaultType(): Promise<void> {
  const memory = createChatMemory();
  same<typeof memory, core.ChatMemory<core.ModelMessage>>();
  const prompt = await memory.prompt();
  same<typeof prompt.system, core.SystemModelMessage | undefined>();
  same<
    typeof prompt.messages,
    (core.UserModelMessage | core.AssistantModelMessage | core.ToolModelMessage)[]
  >();
  createChatMemory({
    window: {
      maxMessages: 4,
      pinned: (message) => {
        same<typeof message, core.ModelMessage>();
        return message.role === "user";
      },
    },
  });
}

export function places(): void {
  const store = inMemoryStore();
  createChatMemory();
  createChatMemory({ id: "chat" });
  createChatMemory({ id: "chat", store, owner: "anna" });
  createChatMemory({ id: undefined, store: undefined, window: undefined, onEvent: undefined });
  // @ts-expect-error a store needs an id: without one every user would share a memory
  createChatMemory({ store });
  // @ts-expect-error an id may not be undefined beside a store
  createChatMemory({ id: undefined, store });
  // @ts-expect-error an id is a text
  createChatMemory({ id: 7, store });
  // @ts-expect-error with a format too, a store needs an id
  createChatMemory({ store, format: notes });
  // @ts-expect-error an owner belongs to a stored memory
  createChatMemory({ owner: "anna" });
  // @ts-expect-error many memories need a store
  createChatMemories({});
}

export function stores(): void {
  const hooks = { get: () => undefined, compareAndSet: () => true, delete: () => true };
  keyValueStore({ ...hooks, ttlMs: undefined });
  // @ts-expect-error a hook is missing
  keyValueStore({ get: hooks.get, delete: hooks.delete });
  // @ts-expect-error a misspelt option
  keyValueStore({ ...hooks, ttl: 5 });
  // @ts-expect-error a misspelt option
  inMemoryStore({ ttl: 5 });
  // @ts-expect-error it has none
  singleSlotStore({ ttlMs: 5 });
}

export function windows(): void {
  createChatMemory({ window: { maxTokens: 1000, counter } });
  createChatMemory({ window: { maxTokens: async (id) => id.length, counter, reserve: () => 10 } });
  // @ts-expect-error a limit is a number or a function
  createChatMemory({ window: { maxTokens: "1000", counter } });
  // @ts-expect-error a limit's function answers a number
  createChatMemory({ window: { maxMessages: () => "10" } });
  // @ts-expect-error a counter has a name
  createChatMemory({ window: { maxTokens: 1000, counter: { count: () => 1 } } });
  createChatMemory({ window: { maxMessages: 4, summarize: undefined, waitUntil: undefined } });
  // @ts-expect-error a summary is a message
  createChatMemory({ window: { maxMessages: 4, summarize: async () => "sum" } });
  // @ts-expect-error no such unit
  createChatMemory({ window: { maxMessages: 4, unit: "word" } });
  // @ts-expect-error no such overflow
  createChatMemory({ window: { maxMessages: 4, overflow: "cut" } });
  // @ts-expect-error no such option
  createChatMemory({ windows: { maxMessages: 4 } });
}

export async function messages(): Promise<void> {
  const memory = createChatMemory();
  await memory.add(user("Hello"), { role: "assistant", content: "Good morning." });
  // @ts-expect-error a message, not a text
  await memory.add("Hello");
  // @ts-expect-error content is missing
  await memory.add({ role: "user" });
  // @ts-expect-error no such role
  await memory.add({ role: "robot", content: "Hello" });
  // @ts-expect-error a system message holds text
  await memory.add({ role: "system", content: [{ type: "text", text: "Be brief." }] });
  // @ts-expect-error a part of an unknown type
  await memory.add({ role: "user", content: [{ type: "smell", text: "roses" }] });
  // @ts-expect-error a user calls no tools
  await memory.add({
    role: "user",
    content: [{ type: "tool-call", toolCallId: "1", toolName: "t", input: {} }],
  });
  // @ts-expect-error no such member
  await memory.add({ role: "user", content: "Hello", at: 1 });
}

export async function anIdForEachMessage(many: readonly core.ModelMessage[]): Promise<void> {
  const memory = createChatMemory();
  const ids = await memory.add(user("Hello"));
  same<typeof ids, [string]>();
  const [question, answer] = await memory.add(
    { role: "user", content: "Hi" },
    entry(user("Hi"), { id: "b" }),
  );
  question satisfies string;
  answer satisfies string;
  const [first, ...rest] = await memory.add(user("Hello"), ...many);
  first satisfies string;
  rest satisfies string[];
  const said = await memory.add(...(many.length === 0 ? [user("Hello")] : []));
  same<typeof said, string[]>();
  const [perhaps] = await memory.add(...many);
  // @ts-expect-error the list may be empty
  perhaps satisfies string;
  await memory.transaction((edit) => {
    const [id] = edit.add(user("Hello"));
    edit.rewind(id);
  });
}

export async function anEntryIsWrittenBeforeItIsAdded(): Promise<void> {
  const memory = createChatMemory({});
  const question = entry({ role: "user", content: "Hello" }, { id: "request-17" });
  const approval = entry(
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a", approved: true }] },
    { id: "approval" },
  );
  const many = ["a", "b"].map((text) => entry({ role: "user", content: text }, { id: text }));
  await memory.add(question, approval, ...many);
  const noteMemory = createChatMemory({ format: notes });
  await noteMemory.add(entry({ by: "me", note: "milk" }, { id: "milk" }));
  // @ts-expect-error not the format's type
  await noteMemory.add(question);
  same<ReturnType<typeof wrapped<Note>>, core.Entry<Note>>();
}

/** Of any type, with no bound of its own. */
function wrapped<M>(message: M): core.Entry<M> {
  return entry(message, { id: "x" });
}

export function errorsByTheirCode(
  error: unknown,
  found: core.TurnkeepError,
  code?: core.TurnkeepErrorCode,
): void {
  if (isTurnkeepError(error)) same<typeof error, core.TurnkeepError>();
  if (isTurnkeepError(error, code)) same<typeof error, core.TurnkeepError>();
  if (isTurnkeepError(error, "WINDOW_OVERFLOW")) same<typeof error.code, "WINDOW_OVERFLOW">();
  if (isTurnkeepError(found, "CORRUPT_RECORD")) same<typeof found.code, "CORRUPT_RECORD">();
  else same<typeof found, core.TurnkeepError>();
  // @ts-expect-error no such code
  isTurnkeepError(error, "WINDOW_OVERFLOWS");
  // @ts-expect-error filter gives the index as the code
  [error].filter(isTurnkeepError);
}
