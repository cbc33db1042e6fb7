import { createChatMemory, isTurnkeepError, type ModelMessageLike } from "@turnkeep/core";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai7";
import { MockLanguageModelV4 } from "ai7/test";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type UIDataPartLike, type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { anthropic, bedrock, gemini, mistral, openai, strict, validate } from "../src/profiles.ts";
import { anyMessage } from "./profiles-conversations.ts";

const finish = {
  content: [{ type: "text" as const, text: "ok" }],
  finishReason: { unified: "stop" as const, raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
  warnings: [],
};

/** The SDK checks the list that it is given before it asks a model: calls without results, roles, shapes of parts. */
const senders: readonly (readonly [string, (prompt: SentPrompt) => Promise<string>])[] = [
  [
    "AI SDK 6",
    async ({ system, messages }) => {
      const model = new MockLanguageModelV3({ doGenerate: finish });
      const sent = { model, messages: messages as ai6.ModelMessage[], ...(system && { system }) };
      return (await ai6.generateText(sent)).text;
    },
  ],
  [
    "AI SDK 7",
    async ({ system, messages }) => {
      const model = new MockLanguageModelV4({ doGenerate: finish });
      const sent = {
        model,
        messages: messages as ai7.ModelMessage[],
        ...(system && { instructions: system }),
      };
      return (await ai7.generateText(sent)).text;
    },
  ],
];

interface SentPrompt {
  readonly system: string | undefined;
  readonly messages: readonly ModelMessageLike[];
}

it.each(senders)("%s takes every view of every conversation", async (_, send) => {
  const profile = fc.constantFrom(openai, anthropic, gemini, mistral, strict);
  await fc.assert(
    fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 16 }), profile, async (all, one) => {
      const memory = createChatMemory({ profile: one });
      await memory.add(...all);
      try {
        const { system, messages } = await memory.prompt();
        if (messages.length === 0) return;
        expect(await send({ system: system?.content as string | undefined, messages })).toBe("ok");
      } catch (error) {
        if (!isTurnkeepError(error, "WINDOW_OVERFLOW")) throw error;
      }
    }),
  );
});

const pay = {
  inputSchema: {
    type: "object" as const,
    properties: { amount: { type: "number" as const } },
    required: ["amount"],
  },
  execute: ({ amount }: { amount: number }) => `paid ${amount}`,
};

/** What the SDK runs of what a UI message approves, before it asks a model. */
const runners: readonly (readonly [string, (messages: ai6.UIMessage[]) => Promise<unknown>])[] = [
  [
    "AI SDK 6",
    async (messages) => {
      const tools = {
        pay: ai6.tool({
          ...pay,
          needsApproval: true,
          inputSchema: ai6.jsonSchema<{ amount: number }>(pay.inputSchema),
        }),
      };
      const model = new MockLanguageModelV3({ doGenerate: finish });
      await ai6.generateText({
        model,
        tools,
        messages: await ai6.convertToModelMessages(messages, { tools }),
      });
      return model.doGenerateCalls[0]?.prompt.at(-1)?.content;
    },
  ],
  [
    "AI SDK 7",
    async (messages) => {
      const tools = {
        pay: ai7.tool({ ...pay, inputSchema: ai7.jsonSchema<{ amount: number }>(pay.inputSchema) }),
      };
      const model = new MockLanguageModelV4({ doGenerate: finish });
      const said = await ai7.convertToModelMessages(messages as ai7.UIMessage[], { tools });
      await ai7.generateText({ model, tools, messages: said });
      return model.doGenerateCalls[0]?.prompt.at(-1)?.content;
    },
  ],
];

it.each(runners)("%s runs the call that a UI message approves, with any profile", async (_, run) => {
  for (const profile of [undefined, openai, anthropic, gemini, bedrock, mistral, strict]) {
    const memory = createChatMemory({ format: uiMessageFormat<ai6.UIMessage>(), profile });
    await memory.add({ id: "q", role: "user", parts: [{ type: "text", text: "Pay." }] });
    const call = { type: "tool-pay", toolCallId: "callpay01", input: { amount: 5 } } as const;
    const answer = (part: ai6.UIMessage["parts"][number]): ai6.UIMessage => ({
      id: "a",
      role: "assistant",
      parts: [{ type: "step-start" }, { type: "text", text: "I will." }, part],
    });
    await memory.put("a", answer({ ...call, state: "approval-requested", approval: { id: "ok" } }));
    await memory.put(
      "a",
      answer({ ...call, state: "approval-responded", approval: { id: "ok", approved: true } }),
    );
    expect(await run(await memory.messages())).toMatchObject([
      { type: "tool-result", output: { type: "text", value: "paid 5" } },
    ]);
  }
});

/** What a model is sent of UI messages. */
const prompts: readonly (readonly [string, (messages: ai6.UIMessage[]) => Promise<unknown>])[] = [
  [
    "AI SDK 6",
    async (messages) => {
      const model = new MockLanguageModelV3({ doGenerate: finish });
      await ai6.generateText({ model, messages: await ai6.convertToModelMessages(messages) });
      return model.doGenerateCalls[0]?.prompt;
    },
  ],
  [
    "AI SDK 7",
    async (messages) => {
      const model = new MockLanguageModelV4({ doGenerate: finish });
      const said = await ai7.convertToModelMessages(messages as ai7.UIMessage[]);
      await ai7.generateText({ model, messages: said });
      return model.doGenerateCalls[0]?.prompt;
    },
  ],
];

it.each(prompts)(
  "%s sends the calls of tools that a model made up under names that are taken",
  async (_, send) => {
    const memory = createChatMemory({ format: uiMessageFormat<ai6.UIMessage>(), profile: bedrock });
    const failed = { state: "output-error", input: {}, errorText: "There is no such tool." } as const;
    await memory.add(
      { id: "q", role: "user", parts: [{ type: "text", text: "Weather?" }] },
      {
        id: "a",
        role: "assistant",
        parts: [
          { type: "tool-functions.weather", toolCallId: "call_1", ...failed },
          { type: "dynamic-tool", toolName: "weather now", toolCallId: "call_2", ...failed },
          { type: "tool-", toolCallId: "call_3", ...failed },
        ],
      },
    );
    const named = ["functions_weather", "weather_now", "_"].map((toolName) => ({ toolName }));
    const [, calls, results] = (await send(await memory.messages())) as { content: unknown }[];
    expect([calls, results]).toMatchObject([{ content: named }, { content: named }]);
  },
);

it.each([bedrock, mistral, strict])(
  "for $name files go that the model made, as data parts too, and what the user sent meanwhile stays",
  (profile) => {
    const file = { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" } as const;
    const format = uiMessageFormat({
      convertDataPart: ({ type }) => (type === "data-chart" ? file : undefined),
    });
    const text = { type: "text", text: "Done." } as const;
    const steering = { type: "steering-message", id: "s", parts: [text, file] } as const;
    const question: UIMessageLike = { id: "1", role: "user", parts: [text] };
    const answer = (...parts: UIMessageLike["parts"]): UIMessageLike => ({
      id: "2",
      role: "assistant",
      parts: [text, ...parts],
    });
    const next: UIMessageLike = { id: "3", role: "user", parts: [text] };
    const { messages } = profile.shape(
      [question, answer({ type: "data-chart", data: 1 } as UIDataPartLike, steering, file, text), next],
      format,
    );
    expect(messages[1]).toEqual(answer(steering, text));
    expect(validate(messages, profile, { format })).toEqual([]);
  },
);
