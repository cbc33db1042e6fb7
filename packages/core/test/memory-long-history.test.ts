import { expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { formatWith } from "./step-messages.ts";

/** More than core reads of a history at once: a hundred, two hundred or a thousand messages. */
const count = 2_500;
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => String(from + index));
const texts = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);
const said = (number: string) => entry(user(number), { id: number });

async function texted(memory: ChatMemory<ModelMessage>, state: "evicted" | "superseded"): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { messages } of memory.historyPages({ states: [state], limit: 1_000 }))
    all.push(...messages.map(({ message }) => message.content));
  return all;
}

test("a rewind far back supersedes all that was said since, and fills a large window", async () => {
  const store = inMemoryStore();
  const small = createChatMemory({ id: "m", store, window: { maxMessages: 2 } });
  await small.add(...numbers(0, count).map(said));
  const large = createChatMemory({ id: "m", store, window: { maxMessages: 300 } });
  await large.rewind("1000");
  expect(await texts(large)).toEqual(numbers(700, 1_000));
  expect(await texted(large, "evicted")).toEqual(numbers(0, 700));
  expect(await texted(large, "superseded")).toEqual(numbers(1_000, count));
});

test("a rewind fills a window of tokens, which counts what it brings back", async () => {
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store, window: { maxMessages: 2 } }).add(...numbers(0, 500).map(said));
  const counter = { name: "one", count: () => 1 };
  const large = createChatMemory({ id: "m", store, window: { maxTokens: 250, target: 1, counter } });
  await large.rewind("400");
  expect(await texts(large)).toEqual(numbers(150, 400));
});

/** A store that counts how often a page of history is asked for. */
function countingStore(): { readonly store: ChatMemoryStore; lookups: number } {
  const inner = inMemoryStore();
  const counting = {
    lookups: 0,
    store: {
      ...inner,
      getHistory: (...given: Parameters<typeof inner.getHistory>) => {
        counting.lookups++;
        return inner.getHistory(...given);
      },
    },
  };
  return counting;
}

test.each([
  ["messages", { maxMessages: 50 }],
  ["tokens", { maxTokens: 50, counter: { name: "one", count: () => 1 } }],
])("a rewind in a window of %s reads no more of the history than could come back", async (_unit, window) => {
  const counting = countingStore();
  const memory = createChatMemory({ id: "m", store: counting.store, window });
  await memory.add(...numbers(0, count).map((number) => user(number)));
  const [last] = await memory.add(user("last"));
  await memory.rewind(last);
  // What is later, and one page of what is earlier.
  expect(counting.lookups).toBe(2);
});

const answer = (id: string) => entry(assistant(`answer ${id}`), { id });
const call = (id: string) => entry(toolCall(id, "look", {}), { id });
const result = (id: string) => entry(toolResult(id, "look", "r"), { id: `result ${id}` });
const request = (id: string) =>
  entry<ModelMessage>(
    assistant([{ type: "tool-approval-request", approvalId: `ask ${id}`, toolCallId: id }]),
    {
      id: `request ${id}`,
    },
  );
const response = (id: string) =>
  entry<ModelMessage>(
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: `ask ${id}`, approved: true }] },
    { id: `response ${id}` },
  );

test.each<[string, boolean, string, number]>([
  ["a user's message", false, "1200", 0],
  ["a user's message, where answers come in parts", true, "1200", 0],
  ["a whole answer", false, "answer", 2],
  ["one of several parts", true, "answer", 2],
  ["a call", false, "c", 2],
  ["a result", false, "result c", 2],
  ["a response to a request", false, "response c", 2],
])("removing %s (in parts: %s) reads no more of the history than its step needs", async (...given) => {
  const [, answersInParts, target, pages] = given;
  const step = [call("c"), request("c"), response("c"), result("c")];
  const all = [
    ...numbers(0, 1_000).map(said),
    answer("answer"),
    ...numbers(1_000, 1_100).map(said),
    ...step,
    ...numbers(1_100, count).map(said),
  ];
  for (const [window, lookup] of [[undefined, 0] as const, [{ maxMessages: 10 }, 1] as const]) {
    const counting = countingStore();
    const format = formatWith(answersInParts);
    const memory = createChatMemory<ModelMessage>({ id: "m", store: counting.store, format, window });
    await memory.add(...all);
    counting.lookups = 0;
    await memory.remove(target);
    // What is in history already is looked up by its id.
    expect(counting.lookups).toBe(lookup + pages);
  }
});

test("removing a result takes the call with it that it answered long ago, and the other way round", async () => {
  const memory = createChatMemory({ window: { maxMessages: 2 } });
  const call = entry(toolCall("c", "look", {}), { id: "call" });
  const result = entry(toolResult("c", "look", "r"), { id: "result" });
  const late = [call, assistant("It takes long."), ...numbers(0, 500).map(said), result];
  await memory.add(...late, ...numbers(500, 505).map(said));
  expect(await memory.remove("result")).toEqual(["call", "result"]);
  const again = createChatMemory({ window: { maxMessages: 2 } });
  await again.add(...late, ...numbers(500, 505).map(said));
  expect(await again.remove("call")).toEqual(["call", "result"]);
  expect(await texted(again, "evicted")).toEqual(["It takes long.", ...numbers(0, 503)]);
});

test("removing a message takes all of its step, of which other parts are near and others are far", async () => {
  const result = (id: string) => entry(toolResult(id, "look", "r"), { id: `result ${id}` });
  const calls = entry(
    assistant(
      ["a", "b"].map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} })),
    ),
    { id: "calls" },
  );
  const request = assistant([
    { type: "tool-call", toolCallId: "a", toolName: "pay", input: {} },
    { type: "tool-approval-request", approvalId: "ok", toolCallId: "a" },
  ]);
  const response: ModelMessage = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "ok", approved: true }],
  };
  const between = numbers(0, 500).map(said);
  const steps = [
    [[calls, result("a"), ...between, result("b")], "calls", ["calls", "result a", "result b"]],
    [
      [entry(request, { id: "request" }), ...between, entry(response, { id: "response" })],
      "response",
      ["request", "response"],
    ],
  ] as const;
  for (const [messages, target, removed] of steps) {
    const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 2 } });
    await memory.add(...messages, user("1"), user("2"));
    expect(await memory.remove(target)).toEqual(removed);
  }
});

test("a fork takes over the whole history, or as much as was said up to a message", async () => {
  const memories = createChatMemories({ store: inMemoryStore(), window: { maxMessages: 2 } });
  await memories.get("m").add(...numbers(0, count).map(said));
  expect(await texted(await memories.fork("m", "whole"), "evicted")).toEqual(numbers(0, count - 2));
  expect(await texted(await memories.fork("m", "part", { at: "1500" }), "evicted")).toEqual(
    numbers(0, 1_499),
  );
});

test("of more ids than the store is asked for at once, each is found where it was added before", async () => {
  const memory = createChatMemory({ window: { maxMessages: 2 } });
  await memory.add(...numbers(0, 1_200).map(said));
  await memory.add(...numbers(0, 1_201).map(said));
  expect(await texted(memory, "evicted")).toEqual(numbers(0, 1_199));
  expect(await texts(memory)).toEqual(["1199", "1200"]);
});
