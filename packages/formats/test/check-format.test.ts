import { checkFormat } from "@turnkeep/conformance";
import { type MessageFormat, modelMessageFormat } from "@turnkeep/core";
import fc from "fast-check";
import { describe, it } from "vitest";
import { type AnyUIPart, isCompaction } from "../src/ai-sdk/parts.ts";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { bedrockFormat } from "../src/bedrock.ts";
import { geminiFormat } from "../src/gemini.ts";
import { langchain4jFormat } from "../src/langchain4j.ts";
import { ollamaFormat } from "../src/ollama.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import { anthropicMessage } from "./arbitrary-anthropic.ts";
import { bedrockMessage } from "./arbitrary-bedrock.ts";
import { geminiContent } from "./arbitrary-gemini.ts";
import { langchain4jMessage } from "./arbitrary-langchain4j.ts";
import { chatMessage } from "./arbitrary-messages.ts";
import { modelMessage } from "./arbitrary-model-messages.ts";
import { ollamaMessage } from "./arbitrary-ollama.ts";
import { responsesItem } from "./arbitrary-responses.ts";
import { uiMessage } from "./arbitrary-ui-messages.ts";
import type { Samples } from "./sample-values.ts";
import * as samplesOfSdk from "./samples-ai-sdk.ts";
import { anthropic } from "./samples-anthropic.ts";
import { bedrock } from "./samples-bedrock.ts";
import { gemini } from "./samples-gemini.ts";
import { langchain4j } from "./samples-langchain4j.ts";
import { ollama } from "./samples-ollama.ts";
import { openai, openaiResponses } from "./samples-openai.ts";

/**
 * The same ones in every run: what a third party's samples are to its format. `fits` leaves out what no provider sends, and
 * what a message alone does not tell, such as who ran a call that stands elsewhere.
 */
function testSamples<M>(
  format: MessageFormat<M>,
  message: fc.Arbitrary<M>,
  kinds: Samples<M>,
  fits: (message: M) => boolean = () => true,
): void {
  it(`${format.name} keeps what a format promises`, () => {
    const some = fc.sample(message, { numRuns: 500, seed: 33 });
    checkFormat(format, [...Object.values(kinds).flat(), ...some].filter(fits));
  });
}

interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

const partsIn = (list: unknown): readonly Part[] => (Array.isArray(list) ? (list as Part[]) : []);

/** A compaction of the user's, and a call of the provider's that still streams with the id of another. */
const fitsUi = ({ role, parts }: UIMessageLike): boolean =>
  !(parts as readonly object[] as readonly AnyUIPart[]).some(
    (part) =>
      (isCompaction(part) && role !== "assistant") ||
      (part.state === "input-streaming" && part.providerExecuted === true),
  );

/** Of a kind of call that the format does not know, the type stands for the tool's name. */
const fitsChat = (message: ChatMessage): boolean =>
  partsIn((message as { tool_calls?: unknown }).tool_calls).every(({ type }) =>
    ["function", "custom"].includes(type),
  );

/** The API ran the call of such an output; a shell call is renamed with its result, whoever ran it. */
const fitsResponses = (item: ResponsesItem): boolean => {
  const { type, id, call_id: callId, environment, execution } = item as unknown as Part;
  const isRun =
    ["program_output", "robot_call_output"].includes(type) ||
    (type === "tool_search_output" && execution !== "client") ||
    (environment as Partial<Part> | null | undefined)?.type === "container_reference";
  return !isRun && (!id || id !== callId);
};

/** Calls, and results of the provider's, stand in an answer; no such result bears the id of a call of the application's. */
const fitsAnthropic = ({ role, content }: AnthropicMessage): boolean => {
  const blocks = partsIn(content);
  const called = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  return blocks.every(({ type, tool_use_id: answered }) =>
    /tool_use$|_tool_result$/.test(type) ? role === "assistant" && !called.includes(answered) : true,
  );
};

describe("checkFormat", () => {
  testSamples(modelMessageFormat, modelMessage, samplesOfSdk.modelMessage);
  testSamples(uiMessageFormat(), uiMessage, samplesOfSdk.aiSdk, fitsUi);
  testSamples(openaiFormat, chatMessage, openai, fitsChat);
  testSamples(openaiResponsesFormat, responsesItem, openaiResponses, fitsResponses);
  testSamples(anthropicFormat, anthropicMessage, anthropic, fitsAnthropic);
  testSamples(geminiFormat, geminiContent, gemini);
  testSamples(bedrockFormat, bedrockMessage, bedrock);
  testSamples(ollamaFormat, ollamaMessage, ollama);
  testSamples(langchain4jFormat, langchain4jMessage, langchain4j);
});
