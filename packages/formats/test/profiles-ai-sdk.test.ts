import { createChatMemory, isTurnkeepError, type ModelMessageLike } from "@turnkeep/core";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai7";
import { MockLanguageModelV4 } from "ai7/test";
import fc from "fast-check";
import { expect, it } from "vitest";
import { anthropic, gemini, mistral, openai, strict } from "../src/profiles.ts";
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
