import { type ChatMemoryStore, entry, keyValueStore } from "@turnkeep/core";
import { gate, until } from "@turnkeep/store-tests/gate";
import { tool, type UIMessage, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { line } from "./browser.ts";
import { statusOf, stored, storedLines, world, worldOver } from "./chat-server.ts";
import { callsTool, says, told } from "./models.ts";

/** A tool that returns these, one after the other. */
function looking(...outputs: unknown[]) {
  const rest = outputs.values();
  const look = tool({
    description: "looks",
    inputSchema: z.object({}),
    execute: async () => rest.next().value,
  });
  return { look };
}

const outputsIn = (message: UIMessage | undefined): unknown[] =>
  (message?.parts ?? []).flatMap((part) => ("output" in part ? [part.output] : []));

class Reading {
  readonly degrees = 12;
}

test.each<[string, unknown, unknown]>([
  ["a gap in a list", [12, undefined], [12, null]],
  ["a map", { found: new Map([["a", 1]]), degrees: 12 }, { found: {}, degrees: 12 }],
  ["an error", { problem: new TypeError("None.") }, { problem: {} }],
  ["a function", { degrees: 12, close: () => undefined }, { degrees: 12 }],
  ["a proxy", new Proxy({ degrees: 12 }, {}), { degrees: 12 }],
  ["a URL", { from: new URL("https://example.com/a") }, { from: "https://example.com/a" }],
  ["an instance of a class", new Reading(), { degrees: 12 }],
])("a result that holds %s is stored as the browser and the model see it", async (_, output, seen) => {
  const { server, failures, prompts } = world(callsTool("look"), says("Twelve."), says("Yes."));
  const { memories, tab, transport } = server({ tools: looking(output) });
  const chat = tab();
  await chat.sendMessage({ text: "How warm?" });
  expect(await storedLines(memories)).toEqual(["user: How warm?", "assistant: [output-available] Twelve."]);
  expect(await statusOf(memories)).toBe("done");
  expect(outputsIn(chat.lastMessage)).toEqual([seen]);
  expect((await transport().history("chat-1")).messages.map(outputsIn)).toEqual([[], [seen]]);
  await chat.sendMessage({ text: "Sure?" });
  const results = prompts[2]?.filter(({ role }) => role === "tool");
  expect(results).toMatchObject([{ content: [{ output: { type: "json", value: seen } }] }]);
  expect(failures).toEqual([]);
});

test("a result that the memory keeps as it is stays so", async () => {
  const { server, failures } = world(callsTool("look"), says("Twelve."));
  const output = { at: new Date(0), bytes: new Uint8Array([1, 2]), none: Number.NaN };
  const { memories, tab } = server({ tools: looking(output) });
  await tab().sendMessage({ text: "How warm?" });
  expect(outputsIn((await stored(memories))[1])).toEqual([output]);
  expect(failures).toEqual([]);
});

const nested = (depth: number): unknown => (depth === 0 ? 12 : [nested(depth - 1)]);

test("a tool whose result is too deep for the memory has failed", async () => {
  const { server, failures } = world(callsTool("look"), says("Twelve."));
  const { memories, tab } = server({ tools: looking(nested(600)) });
  await tab().sendMessage({ text: "How warm?" });
  expect(await storedLines(memories)).toEqual(["user: How warm?", "assistant: [output-error] Twelve."]);
  expect(await statusOf(memories)).toBe("done");
  expect(failures).toEqual([]);
});

test("an answer ends at a result that JSON cannot hold", async () => {
  const circle: unknown[] = [];
  circle.push(circle);
  const { server, failures } = world(callsTool("look"));
  const { memories, tab } = server({ tools: looking(circle) });
  await tab().sendMessage({ text: "How warm?" });
  await until(async () => (await statusOf(memories)) === "failed");
  expect(await storedLines(memories)).toEqual(["user: How warm?", "assistant: [output-error]"]);
  expect(failures).toMatchObject([{ name: "TypeError" }]);
});

test("a bigint in a result is text, and the chat goes on", async () => {
  const { server, prompts } = world(callsTool("look"), says("Three."));
  const { memories, tab, transport } = server({ tools: looking({ count: 3n }) });
  await tab().sendMessage({ text: "How many?" });
  // No model can be told it: the SDK, or the provider, refuses.
  await until(async () => (await statusOf(memories)) === "failed");
  const { messages } = await transport().history("chat-1");
  expect(messages.map(outputsIn)).toEqual([[], [{ count: "3" }]]);
  await tab(messages).sendMessage({ text: "And now?" });
  expect(JSON.stringify(prompts.at(-1))).toContain('{"count":"3"}');
  expect((await storedLines(memories)).at(-1)).toBe("assistant: Three.");
});

/** An answer as it may be stored by other ways than the handler's. */
const counted = (id: string, status: string): UIMessage => ({
  id,
  role: "assistant",
  metadata: { status, started: 5n },
  parts: [
    { type: "tool-count", toolCallId: id, state: "output-available", input: {}, output: { count: 3n } },
    { type: "data-count", data: 3n },
  ],
});

const count: UIMessage = { id: "q", role: "user", parts: [{ type: "text", text: "Count." }] };

test("a bigint that is stored is text in a page, in a tree, in a version and for the model", async () => {
  const { server, failures, prompts } = world(says("Three."));
  const { memories, tab, transport } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  await memory.add(count, entry(counted("a1", "done"), { id: "a1" }));
  await memory.rewind("a1");
  await memory.add(counted("a2", "done"));
  const output = [{ count: "3" }];
  const page = await transport().history("chat-1");
  expect(page.messages.map(outputsIn)).toEqual([[], output]);
  expect(page.messages[1]?.metadata).toEqual({ status: "done", started: "5" });
  const { messages } = await transport().tree("chat-1");
  expect(messages.map(({ message }) => outputsIn(message))).toEqual([[], output, output]);
  const restored = await transport().restoreVersion("chat-1", "a1");
  expect(restored.messages.map(outputsIn)).toEqual([[], output]);
  const chat = tab(restored.messages);
  await chat.sendMessage({ text: "Sure?" });
  expect(prompts[0]?.find(({ role }) => role === "tool")).toMatchObject({
    content: [{ output: { type: "json", value: { count: "3" } } }],
  });
  expect(chat.messages.map(line).at(-1)).toBe("assistant: Three.");
  expect(failures).toEqual([]);
});

test("a bigint that is stored is text in an answer that is resumed, while it is made and when it is over", async () => {
  const { server, failures } = world();
  const { memories, handler, tab } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  await memory.add(count, entry(counted("a", "streaming"), { id: "a" }));
  const { opened, open } = gate();
  const turn = memory.turn(() => opened);
  const making = tab([count]);
  const resumed = making.resumeStream();
  await until(() => outputsIn(making.lastMessage).length > 0);
  await memory.put("a", counted("a", "done"));
  await resumed;
  open();
  await turn;
  expect(making.lastMessage?.metadata).toEqual({ status: "done", started: "5" });
  expect(outputsIn(making.lastMessage)).toEqual([{ count: "3" }]);
  const url = "http://localhost/api/chat/chat-1/stream?shown=a";
  const over = await handler(new Request(url, { headers: { user: "ann" } }));
  expect(await over.text()).toContain('"output":{"count":"3"}');
  expect(failures).toEqual([]);
});

/** A store that takes 64 KB of a message, as that of a database with a limit does. */
function smallStore(): ChatMemoryStore {
  const values = new Map<string, string>();
  return keyValueStore<string>({
    get: (key) => {
      const value = values.get(key);
      return value === undefined ? undefined : { value, revision: value };
    },
    compareAndSet: (key, value, revision) => {
      if (values.get(key) !== revision) return false;
      values.set(key, value);
      return true;
    },
    delete: (key, revision) => (revision === undefined || values.get(key) === revision) && values.delete(key),
    maxMessageBytes: 64 * 1024,
  });
}

test("of an answer that is too large for the store, the largest results are left out", async () => {
  const { server, failures, prompts } = worldOver(
    smallStore(),
    ...[callsTool("look"), callsTool("look"), callsTool("look"), callsTool("look")],
    says("Twelve."),
    says("Yes."),
  );
  const [large, small] = ["a".repeat(48 * 1024), "a".repeat(32 * 1024)];
  const { memories, tab } = server({ tools: looking(large, small, `${large}a`, "12") });
  const chat = tab();
  await chat.sendMessage({ text: "How warm?" });
  expect(await storedLines(memories)).toEqual([
    "user: How warm?",
    "assistant: [output-error] [output-available] [output-error] [output-available] Twelve.",
  ]);
  expect(await statusOf(memories)).toBe("done");
  await chat.sendMessage({ text: "Sure?" });
  const results = prompts[5]?.filter(({ role }) => role === "tool").map(told);
  const left = "tool: (The result is too large to be kept.)";
  expect(results).toEqual([left, `tool: (${small})`, left, "tool: (12)"]);
  expect(failures).toEqual([]);
});

test("an answer whose text alone is too large for the store is told to the server", async () => {
  const { server, failures } = worldOver(smallStore(), callsTool("look"), says("a".repeat(65 * 1024)));
  const { tab } = server({ tools: looking("12") });
  await tab().sendMessage({ text: "How warm?" });
  expect(failures).toMatchObject([{ code: "MESSAGE_TOO_LARGE" }]);
});

test("the turn of an answer that cannot be read on is held until its run is over, and the server is told", async () => {
  const { opened, open } = gate();
  const chunks: UIMessageChunk[] = [
    { type: "start", messageMetadata: { status: "streaming" } },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "One" },
    { type: "text-delta", id: "2", delta: "Two" },
  ];
  const toUIMessageStream = (): ReadableStream<UIMessageChunk> =>
    new ReadableStream({
      async start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        await opened;
        controller.close();
      },
    });
  const { server, failures } = world();
  const works: Promise<unknown>[] = [];
  const { memories, tab } = server({
    model: undefined,
    agent: { stream: async () => ({ toUIMessageStream }) },
    waitUntil: (work) => works.push(work),
  });
  await tab().sendMessage({ text: "Count." });
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(await memories.get("chat-1").running()).toBe(true);
  open();
  await Promise.all(works);
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One"]);
  expect(await statusOf(memories)).toBe("failed");
  expect(failures).toMatchObject([{ name: "AI_UIMessageStreamError" }]);
});
