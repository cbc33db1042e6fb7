import { createChatMemory, type ModelMessage } from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { openaiServer, weatherBot } from "@turnkeep/model-servers";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic.ts";
import { type AssistantMessages, createAssistant, tool } from "../src/index.ts";
import { modelMessages } from "../src/model-messages.ts";
import { openaiMessages } from "../src/openai.ts";
import { openaiCompatible } from "../src/openai-compatible.ts";
import { all, decision, id, outputsOf } from "./approval-support.ts";
import { assistant, calling, scripted, toolCall } from "./script.ts";

const execute = (): string => "paid";
const pay = tool({ inputSchema: {}, needsApproval: true, execute });
const own = modelMessages as unknown as AssistantMessages<ModelMessage>;
const memory = createChatMemory();
const model = scripted();

describe("a tool that needs approval is refused when the assistant is made", () => {
  const noPlace = expect.objectContaining({
    code: "INVALID_OPTION",
    message:
      'tools["pay"].needsApproval: these messages have no place for approvals. Use a memory of the default format ' +
      "(ModelMessage, the AI SDK's too), whose model may be openaiCompatible or aiSdkModel, or give messages.approvals of your own.",
  });

  test.each([pay, { ...pay, needsApproval: () => false }])(
    "for messages without a place for it: %o",
    (tool) => {
      const tools = { pay: tool };
      const { approvals: _, ...without } = own;
      expect(() =>
        createAssistant<ChatMessage>({
          model: async () => ({ message: { role: "assistant" } }),
          memory: createChatMemory({ format: openaiFormat }),
          messages: openaiMessages<ChatMessage>(),
          tools,
        }),
      ).toThrow(noPlace);
      expect(() =>
        createAssistant<AnthropicMessage>({
          model: async () => ({ message: { role: "assistant", content: "" } }),
          memory: createChatMemory({ format: anthropicFormat }),
          messages: anthropicMessages<AnthropicMessage>(),
          tools,
        }),
      ).toThrow(noPlace);
      expect(() => createAssistant({ model, memory, messages: without, tools })).toThrow(noPlace);
      createAssistant({ model, memory, messages: without, tools: { pay: { ...pay, needsApproval: false } } });
    },
  );

  test.each(["request", "response", "responses"] as const)("for want of the function %s", (name) => {
    const messages = { ...own, approvals: { ...own.approvals, [name]: undefined } } as never;
    expect(() => createAssistant({ model, memory, messages, tools: { pay } })).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: `messages.approvals.${name} must be a function; it is undefined.`,
      }),
    );
  });

  test("where it is neither a function nor true or false", () => {
    const tools = { pay: { ...pay, needsApproval: "always" } } as never;
    expect(() => createAssistant({ model, memory, tools })).toThrow(
      'tools["pay"].needsApproval must be true, false or a function; it is "always".',
    );
  });

  test("where nothing keeps the call", () => {
    expect(() => createAssistant({ model, tools: { pay } })).toThrow(
      'tools["pay"].needsApproval: give memory or memories.',
    );
  });
});

test("messages of one's own may hold approvals as they like", async () => {
  const asked: string[] = [];
  const messages: AssistantMessages<ModelMessage> = {
    ...own,
    approvals: {
      request: (answer, requests) => {
        asked.push(...requests.map(({ toolCallId }) => toolCallId));
        return { ...(own.approvals?.request(answer, requests) as ModelMessage), asks: true };
      },
      response: (responses) => ({
        role: "tool",
        content: responses.map(({ approvalId, approved, reason = "none" }) => ({
          type: "tool-approval-response",
          approvalId,
          approved: true,
          reason: JSON.stringify({ approved, reason }),
        })),
      }),
      responses: (message) =>
        (own.approvals?.responses(message) ?? []).map(({ approvalId, reason = "{}" }) => ({
          approvalId,
          ...JSON.parse(reason),
        })),
    },
  };
  const memory = createChatMemory();
  const model = scripted(calling(["c-1", "pay"], ["c-2", "pay"]), assistant("Done."));
  const chat = createAssistant({ model, memory, messages, tools: { pay } });
  const waiting = await chat.chat("Go", { id });
  expect(asked).toEqual(["c-1", "c-2"]);
  await chat.chat({ approvals: [decision(waiting, "c-1", false, "Dear.")] }, { id });
  await expect(chat.chat({ approvals: [decision(waiting, "c-1", true)] }, { id })).rejects.toMatchObject({
    code: "APPROVAL_CONFLICT",
  });
  expect(await chat.chat({ approvals: [decision(waiting, "c-2", true)] }, { id })).toMatchObject({
    text: "Done.",
    toolResults: [{ output: "The user denied this tool call: Dear." }, { output: "paid" }],
  });
  expect((await memory.messages())[1]).toHaveProperty("asks", true);
});

test("messages without approvals leave those of others alone", async () => {
  const memory = createChatMemory();
  const waiting = await createAssistant({
    model: scripted(toolCall("c-1", "pay", {})),
    memory,
    tools: { pay },
  }).chat("Go", { id });
  const { approvals: _, ...messages } = own;
  const tools = { pay: { inputSchema: {}, execute } };
  const other = createAssistant({ model: scripted(assistant("Shall I?")), memory, messages, tools });
  await expect(other.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
    code: "UNKNOWN_APPROVAL",
  });
  expect(await other.chat("Go", { id })).toMatchObject({ text: "Shall I?" });
  expect(JSON.stringify(outputsOf(await memory.messages(), "c-1"))).toContain("interrupted");
});

test.each([true, false])(
  "a server of OpenAI's protocol is sent no approvals, only calls and results (%s)",
  async (approved) => {
    const server = await openaiServer(weatherBot, "key");
    try {
      const memory = createChatMemory();
      const weather = tool({
        inputSchema: {},
        needsApproval: true,
        execute: ({ city }) => `4 °C in ${city as string}`,
      });
      const chat = createAssistant({
        model: openaiCompatible({ baseUrl: `${server.url}/v1`, apiKey: "key", model: "m" }),
        memory,
        tools: { weather },
      });
      const waiting = await chat.chat("Weather in Oslo?", { id });
      expect(waiting.approvalRequests).toMatchObject([
        { call: { name: "weather", input: { city: "Oslo" } } },
      ]);
      const result = await chat.chat({ approvals: all(waiting, approved) }, { id });
      const told = approved ? "4 °C in Oslo" : "The user denied this tool call.";
      expect(result.text).toContain(told);
      const callId = waiting.approvalRequests[0]?.call.id;
      const body = server.received.at(-1)?.body as { messages: unknown } | undefined;
      expect(body?.messages).toEqual([
        { role: "user", content: "Weather in Oslo?" },
        { role: "assistant", content: null, tool_calls: [expect.objectContaining({ id: callId })] },
        { role: "tool", tool_call_id: callId, content: told },
      ]);
    } finally {
      await server.stop();
    }
  },
);
