import type Anthropic from "@anthropic-ai/sdk";
import type { ModelMessage as ModelMessage7, UIMessage as UIMessage7 } from "ai7";
import type OpenAI from "openai";
import { expect, expectTypeOf, it } from "vitest";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicConversion } from "../src/anthropic.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { openaiConversion } from "../src/openai.ts";
import { openaiResponsesConversion } from "../src/openai-responses.ts";

it("takes the SDKs' own types, and answers what they take", () => {
  const chat: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello" }];
  const blocks = convert(chat, { from: openaiConversion, to: anthropicConversion }).messages;
  expectTypeOf(blocks).toEqualTypeOf<AnthropicMessage[]>();
  expectTypeOf(blocks).toExtend<Anthropic.MessageParam[]>();

  const items = convert(blocks, { from: anthropicConversion, to: openaiResponsesConversion }).messages;
  expectTypeOf(items).toExtend<OpenAI.Responses.ResponseInputItem[]>();

  const model = convert(items, { from: openaiResponsesConversion, to: modelMessageConversion }).messages;
  expectTypeOf(model).toExtend<ModelMessage7[]>();
  const sdk: ModelMessage7[] = model;

  const ui = convert(sdk, { from: modelMessageConversion, to: uiMessageConversion<UIMessage7>() }).messages;
  expectTypeOf(ui).toEqualTypeOf<UIMessage7[]>();

  // @ts-expect-error: messages of another format
  expect(() => convert(ui, { from: openaiConversion, to: anthropicConversion })).toThrow("content");
});
