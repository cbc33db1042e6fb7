import {
  assistant,
  createChatMemory,
  entry,
  inMemoryStore,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  user,
} from "@turnkeep/core";
import { expect, it } from "vitest";
import { anthropicFormat } from "../src/anthropic.ts";
import { mistral, openai, strict } from "../src/profiles.ts";

const call = (toolCallId: string) => ({ type: "tool-call" as const, toolCallId, toolName: "pay", input: {} });
const resultOf = (toolCallId: string, value = "paid") => ({
  type: "tool-result" as const,
  toolCallId,
  toolName: "pay",
  output: { type: "text" as const, value },
});
const request = (toolCallId: string) => ({
  type: "tool-approval-request" as const,
  approvalId: "ok",
  toolCallId,
});
const response = { type: "tool-approval-response" as const, approvalId: "ok", approved: true };
const tool = (...content: Extract<ModelMessage, { role: "tool" }>["content"]): ModelMessage => ({
  role: "tool",
  content,
});

/** A memory whose last message approves the call `call:1`, beside an answered one, and a second instance of it. */
async function approved(profile = strict) {
  const store = inMemoryStore();
  const make = () => createChatMemory({ id: "a", store, profile });
  const memory = make();
  await memory.add(
    user("a"),
    assistant([call("call:1"), call("call:2"), request("call:1")]),
    tool(resultOf("call:2", "no")),
    tool(response),
  );
  const view = await memory.messages();
  const ids = view.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.flatMap((part) => (part.type === "tool-call" ? part : [])),
  );
  return { memory, other: make(), shown: ids.map(({ toolCallId }) => toolCallId) };
}

it.each([strict, mistral])(
  "a result that bears a view's id answers its call, in any process: $name",
  async (profile) => {
    const { memory, other, shown } = await approved(profile);
    const [first = "", second = ""] = shown;
    expect(first).toMatch(/^[a-z0-9]{9}$/);
    await other.add(tool(resultOf(first)));
    expect((await memory.history()).messages.at(-1)?.message).toEqual(tool(resultOf("call:1")));
    const results = (await memory.messages()).flatMap(({ role, content }) =>
      role === "tool" && typeof content !== "string"
        ? content.filter(({ type }) => type === "tool-result")
        : [],
    );
    expect(results).toHaveLength(2);
    expect(results).toEqual(expect.arrayContaining([resultOf(first), resultOf(second, "no")]));
  },
);

it("is the same message when it is added or put again", async () => {
  const { memory, shown } = await approved();
  const answer = tool(resultOf(shown[0] ?? ""));
  await memory.add(entry(answer, { id: "r" }));
  await memory.add(entry(answer, { id: "r" }));
  await memory.put("r", answer);
  const { messages } = await memory.history();
  expect(messages).toHaveLength(5);
  expect(messages.at(-1)?.message).toEqual(tool(resultOf("call:1")));
});

it("is shown so in a transaction, and among extra messages", async () => {
  const { memory, shown } = await approved();
  const answer = tool(resultOf(shown[0] ?? ""));
  expect((await memory.messages({ extra: [answer] })).at(-1)).toMatchObject({
    content: expect.arrayContaining([resultOf(shown[0] ?? "")]),
  });
  await memory.transaction(async (transaction) => {
    transaction.add(answer);
    expect((await transaction.messages()).at(-1)).toMatchObject({
      content: expect.arrayContaining([resultOf(shown[0] ?? "")]),
    });
  });
  expect((await memory.history()).messages.at(-1)?.message).toEqual(tool(resultOf("call:1")));
});

it("a result under a stored id, of a call that comes with it, or of none stays as it is", async () => {
  const { memory } = await approved();
  const messages = [
    tool(resultOf("call:1")),
    tool(resultOf("nobody's")),
    assistant([call("abcDEF123")]),
    tool(resultOf("abcDEF123")),
  ];
  for (const message of messages) await memory.add(message);
  await memory.add(assistant([call("abcDEF456")]), tool(resultOf("abcDEF456")));
  const stored = (await memory.history()).messages.slice(4).map(({ message }) => message);
  expect(stored).toEqual([...messages, assistant([call("abcDEF456")]), tool(resultOf("abcDEF456"))]);
});

it("holds for messages of another format", async () => {
  type M = Parameters<typeof anthropicFormat.role>[0];
  const memory = createChatMemory<M>({ format: anthropicFormat as MessageFormat<M>, profile: strict });
  await memory.add({ role: "user", content: "a" });
  await memory.add({
    role: "assistant",
    content: [{ type: "tool_use", id: "toolu_1", name: "pay", input: {} }],
  });
  await memory.add({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "x" }],
  });
  const view = await memory.messages();
  const [use] = anthropicFormat.toolCalls(view[1] as M);
  await memory.put("again", {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: use?.id ?? "", content: "y" }],
  });
  const last = (await memory.history()).messages.at(-1)?.message as M;
  expect(anthropicFormat.toolResults(last)).toEqual([{ id: "toolu_1" }]);
});

it("is stored under its call's id where a call of that id has left between the view and the result", async () => {
  const memory = createChatMemory({ profile: openai, window: { maxMessages: 5, target: 1 } });
  const asking = (toolCallId: string) => ({ ...request(toolCallId), approvalId: `ok ${toolCallId}` });
  const answering = (toolCallId: string) => ({ ...response, approvalId: `ok ${toolCallId}` });
  const calls = ["call_0", "call_1"];
  await memory.add(
    assistant([call("call_0")]),
    tool(resultOf("call_0")),
    user("b"),
    assistant([...calls.map(call), ...calls.map(asking)]),
    tool(...calls.map(answering)),
  );
  const view = await memory.messages();
  const alias = modelMessageFormat.toolCalls(view[3] as ModelMessage)[0]?.id ?? "";
  expect(alias).toMatch(/^[a-z0-9]{9}$/);
  await memory.add(tool(resultOf("call_1")));
  expect((await memory.messages())[0]).toEqual(user("b"));
  await memory.add(tool(resultOf(alias)));
  expect((await memory.history()).messages.at(-1)?.message).toEqual(tool(resultOf("call_0")));
  expect(JSON.stringify(await memory.messages())).not.toContain("interrupted");
});

it("is stored so behind a view that brought an earlier call of that id back", async () => {
  const memory = createChatMemory({ profile: openai, window: { maxMessages: 4, target: 1 } });
  const [pinned = ""] = await memory.add(assistant([call("call_0")]), tool(resultOf("call_0")), user("b"));
  await memory.add(assistant([call("call_0"), request("call_0")]), tool(response));
  const view = await memory.messages({ pinned: [pinned] });
  const [first, alias = ""] = view
    .flatMap((message) => modelMessageFormat.toolCalls(message))
    .map(({ id }) => id);
  expect(first).toBe("call_0");
  expect(alias).toMatch(/^[a-z0-9]{9}$/);
  await memory.add(tool(resultOf(alias)));
  expect((await memory.history()).messages.at(-1)?.message).toEqual(tool(resultOf("call_0")));
});
