import { type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageConversion } from "../src/ai-sdk.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { anthropicMessage } from "./arbitrary-anthropic.ts";
import { commonConversation } from "./arbitrary-conversations.ts";
import { langchain4jMessage } from "./arbitrary-langchain4j.ts";
import { chatMessage } from "./arbitrary-messages.ts";
import { responsesItem } from "./arbitrary-responses.ts";
import { conversionOf, names, told } from "./conversions.ts";
import { fewerRuns } from "./fewer-runs.ts";

type Convert = (messages: UIMessageLike[]) => Promise<ModelMessageLike[]>;
interface Schema {
  safeParse(message: unknown): { readonly success: boolean; readonly error?: unknown };
}

const majors = [
  [6, ai6.modelMessageSchema as unknown as Schema, ai6.convertToModelMessages as unknown as Convert],
  [7, ai7.modelMessageSchema as unknown as Schema, ai7.convertToModelMessages as unknown as Convert],
] as const;
function accepted(schema: Schema, messages: readonly unknown[]): void {
  for (const message of messages) expect(schema.safeParse(message).error).toBeUndefined();
}

describe.each(majors)("what the AI SDK %i", (_major, schema, convertToModelMessages) => {
  it("refuses what is no message", () => {
    expect(schema.safeParse({ role: "user", content: [{ type: "text" }] }).success).toBe(false);
  });

  it.each(names)("takes of what every format holds, from %s", (name) => {
    const own = conversionOf(name);
    fc.assert(
      fc.property(commonConversation, (conversation) => {
        const given = convert(conversation, { from: modelMessageConversion, to: own }).messages;
        accepted(schema, convert(given, { from: own, to: modelMessageConversion }).messages);
      }),
      fewerRuns,
    );
  });

  it("makes itself of UI messages is what the conversion makes of them", async () => {
    await fc.assert(
      fc.asyncProperty(commonConversation, async (conversation) => {
        const shown = convert(conversation, { from: modelMessageConversion, to: uiMessageConversion() });
        const sent = await convertToModelMessages(shown.messages);
        accepted(schema, sent);
        expect(told(sent, modelMessageFormat)).toEqual(told(conversation, modelMessageFormat));
      }),
      fewerRuns,
    );
  });
});

/** Of other formats' messages, JSON alone: the SDK takes no other values. */
const others: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  OpenAI: chatMessage,
  Responses: responsesItem,
  Anthropic: anthropicMessage,
  LangChain4j: langchain4jMessage,
};

describe("any message as the AI SDK's", () => {
  it.each(Object.entries(others))("is one that major 7 takes, from %s", (name, message) => {
    const from = conversionOf(name);
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 3 }), (messages) => {
        accepted(majors[1][1], convert(messages, { from, to: modelMessageConversion }).messages);
      }),
      fewerRuns,
    );
  });
});
