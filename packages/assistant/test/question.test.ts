import {
  type ChatMemory,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  system,
  type TokenCounter,
  type WindowOptions,
} from "@turnkeep/core";
import { redact, tokenLimiter } from "@turnkeep/core/processors";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { strict } from "@turnkeep/formats/profiles";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic.ts";
import { createAssistant, type ModelRequest, type Tools } from "../src/index.ts";
import { type Answer, assistant, scripted, toolCall, user } from "./script.ts";

const characters: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
};
const tools: Tools = { t: { inputSchema: {}, execute: () => "r" } };
const question = user("A question that is far larger than this window");

type Window = WindowOptions<ModelMessage>;

const tooSmall: readonly (readonly [string, Window])[] = [
  ["unit message, messages", { unit: "message", maxMessages: 1 }],
  ["unit message, tokens", { unit: "message", maxTokens: 20, counter: characters }],
  ["unit step, evict", { maxTokens: 20, counter: characters, overflow: "evict" }],
  ["unit turn, evict", { unit: "turn", maxTokens: 20, counter: characters, overflow: "evict" }],
  ["unit step, throw", { maxTokens: 20, counter: characters }],
];

describe.each(tooSmall)("a question larger than the window (%s)", (_, window) => {
  test.each([undefined, "q-1"])(
    "asks no model, says what is too large, and leaves nothing: id %s",
    async (id) => {
      const model = scripted(assistant("Yes?"));
      const memory = createChatMemory({ window });
      const chat = createAssistant({ model, memory, systemMessage: "Be brief." });
      await expect(chat.chat(question, { id })).rejects.toMatchObject({
        code: "WINDOW_OVERFLOW",
        details: window.maxTokens === undefined ? { needed: 2, limit: 1 } : { needed: 55, limit: 20 },
      });
      expect(model.requests).toEqual([]);
      expect((await memory.history()).messages.map(({ message }) => message)).toEqual([system("Be brief.")]);
    },
  );
});

/** A model that calls the tool so many times, then answers. */
const looping = (calls: number): readonly Answer[] => [
  ...Array.from({ length: calls }, (_, n) => toolCall(`c${n + 1}`, "t", {})),
  assistant("Done."),
];

/** A request in short: what was said, a call's id, or `r` with the id of the call that it answers. */
const shown = ({ messages }: ModelRequest<ModelMessage>): string[] =>
  messages.map(({ role, content }) => {
    if (typeof content === "string") return content;
    const [part] = content;
    if (part?.type === "text") return part.text;
    const id = part !== undefined && "toolCallId" in part ? part.toolCallId : "";
    return role === "tool" ? `r ${id}` : id;
  });

describe("a turn that is longer than the window", () => {
  test.each([
    ["step", undefined],
    ["step", "q-1"],
    ["turn", undefined],
    ["message", undefined],
  ] as const)(
    "shows its question and its newest step with each request (unit %s, id %s)",
    async (unit, id) => {
      const model = scripted(...looping(4));
      const memory = createChatMemory({ window: { unit, maxMessages: 5 } });
      await memory.add(user("Before"), assistant("Yes?"));
      const chat = createAssistant({ model, memory, tools, systemMessage: "Be brief." });
      expect((await chat.chat("Go", { id })).text).toBe("Done.");
      expect(model.requests.map(shown).map((request) => request.slice(-3))).toEqual([
        expect.arrayContaining(["Go"]),
        ["Go", "c1", "r c1"],
        expect.arrayContaining(["c2", "r c2"]),
        expect.arrayContaining(["c3", "r c3"]),
        ["Go", "c4", "r c4"],
      ]);
      for (const request of model.requests) {
        expect(shown(request)).toEqual(expect.arrayContaining(["Be brief.", "Go"]));
        expect(request.messages.length).toBeLessThanOrEqual(5);
      }
    },
  );

  test("shows it again to another process that goes on with the turn", async () => {
    const store = inMemoryStore();
    const open = (): ChatMemory<ModelMessage> =>
      createChatMemory({ id: "m", store, window: { maxMessages: 3 } });
    const begun = createAssistant({
      model: scripted(...looping(2).slice(0, 2), new Error("timeout")),
      memory: open(),
      tools,
    });
    await expect(begun.chat("Go", { id: "q-1" })).rejects.toThrow("timeout");
    const model = scripted(assistant("Done."));
    const onward = createAssistant({ model, memory: open(), tools });
    expect((await onward.chat("Go", { id: "q-1" })).text).toBe("Done.");
    expect(model.requests.map(shown)).toEqual([["Go", "c2", "r c2"]]);
  });

  test("shows it to the model behind the user's decision", async () => {
    const model = scripted(toolCall("c1", "t", {}), toolCall("c2", "pay", {}), assistant("Paid."));
    const memory = createChatMemory({ window: { maxMessages: 4 } });
    const pay = { inputSchema: {}, needsApproval: true, execute: () => "paid" };
    const chat = createAssistant({ model, memory, tools: { ...tools, pay } });
    const { approvalRequests } = await chat.chat("Go", { id: "q-1" });
    const approvals = approvalRequests.map(({ approvalId }) => ({ approvalId, approved: true }));
    expect((await chat.chat({ approvals }, { id: "q-1" })).text).toBe("Paid.");
    expect(model.requests.map(shown).at(-1)?.slice(0, 2)).toEqual(["Go", "c2"]);
  });

  test.each([
    ["message", "evict"],
    ["step", "throw"],
    ["step", "evict"],
    ["turn", "evict"],
  ] as const)(
    "fails if the question does not fit beside what the tools have done (unit %s, overflow %s)",
    async (unit, overflow) => {
      const model = scripted(...looping(1));
      const memory = createChatMemory({ window: { unit, overflow, maxMessages: 2 } });
      const chat = createAssistant({ model, memory, tools });
      await expect(chat.chat("Go")).rejects.toMatchObject({
        code: "WINDOW_OVERFLOW",
        details: { needed: 3, limit: 2 },
      });
      expect(model.requests.map(shown)).toEqual([["Go"]]);
      // A tool has run, so the turn stays.
      expect((await memory.history()).messages.map(({ message }) => message.role)).toEqual([
        "user",
        "assistant",
        "tool",
      ]);
    },
  );

  test("is shown whole with overflow keep", async () => {
    const model = scripted(...looping(1));
    const memory = createChatMemory({ window: { overflow: "keep", maxMessages: 1 } });
    await createAssistant({ model, memory, tools }).chat("Go");
    expect(model.requests.map(shown)).toEqual([["Go"], ["Go", "c1", "r c1"]]);
  });

  test("shows its question beside a summary of it", async () => {
    const model = scripted(...looping(4));
    const summarize = (): ModelMessage => user("Summary.");
    const memory = createChatMemory({ window: { maxMessages: 5, summarize } });
    await createAssistant({ model, memory, tools }).chat("Go");
    for (const request of model.requests) expect(shown(request)).toContain("Go");
    expect(model.requests.map(shown)).toContainEqual(["Summary.", "Go", "c3", "r c3"]);
  });
});

describe("a question that a processor", () => {
  test("leaves out fails the turn, and names the processor", async () => {
    const model = scripted(...looping(2));
    const limiter = tokenLimiter({ limit: 20, counter: characters, overflow: "keep" });
    const memory = createChatMemory({ processors: [limiter] });
    const long = { t: { inputSchema: {}, execute: () => "a result of some length" } };
    const failed = createAssistant({ model, memory, tools: long }).chat("Go");
    await expect(failed).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      message: expect.stringContaining('"token-limiter"'),
    });
    expect(model.requests.map(shown)).toEqual([["Go"]]);
  });

  test("changes is shown as changed", async () => {
    const model = scripted(assistant("Yes?"));
    const memory = createChatMemory({ processors: [redact({ patterns: [/secret/g], replacement: "…" })] });
    await createAssistant({ model, memory }).chat("My secret");
    expect(model.requests.map(shown)).toEqual([["My …"]]);
  });

  test("a profile joins with others is there", async () => {
    const model = scripted(assistant("Yes?"));
    const memory = createChatMemory({ profile: strict });
    await memory.add(user("Before"));
    await createAssistant({ model, memory }).chat("Go");
    expect(JSON.stringify(model.requests[0]?.messages)).toContain("Go");
  });
});

test("a question that a provider's compaction stands for need not be shown", async () => {
  const compaction = { type: "compaction" as const, content: "The user says: Go." };
  const answers: AnthropicMessage[] = [
    {
      role: "assistant",
      content: [compaction as never, { type: "tool_use", id: "c1", name: "t", input: {} }],
    },
    { role: "assistant", content: "Done." },
  ];
  const requests: (readonly AnthropicMessage[])[] = [];
  const rest = answers.values();
  const chat = createAssistant<AnthropicMessage>({
    model: async ({ messages }) => {
      requests.push(messages);
      return { message: rest.next().value as AnthropicMessage };
    },
    messages: anthropicMessages<AnthropicMessage>(),
    memory: createChatMemory({ format: anthropicFormat }),
    tools,
  });
  expect((await chat.chat("Go")).text).toBe("Done.");
  expect(requests[1]?.map(({ role }) => role)).toEqual(["assistant", "user"]);
});
