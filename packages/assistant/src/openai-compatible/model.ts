import type { ModelMessageLike } from "@turnkeep/core";
import type { Model, ModelRequest, ModelResponse } from "../model.ts";
import type { ChatMessageLike } from "../openai/messages.ts";
import { fromWire, toWire } from "./convert.ts";
import { type ChatAnswer, complete } from "./http.ts";
import { checkOptions, type OpenAICompatibleOptions } from "./options.ts";
import { withSentCalls } from "./sent-calls.ts";
import type { WireCall } from "./wire.ts";

/** An answer as the server gave it, with members that only that server knows. */
export interface ChatAssistantMessage {
  role: "assistant";
  content?: string | null;
  tool_calls?: WireCall[];
  [member: string]: unknown;
}

/**
 * A model behind a server that speaks OpenAI's Chat Completions protocol (OpenAI, Azure, Mistral, Groq, OpenRouter, vLLM,
 * llama.cpp, Ollama and others), over a memory of the default format. Streams where somebody follows the answer.
 *
 * The reasoning that a server wants back (`reasoning_content`, `reasoning_details`) is kept with the answer, and goes back to
 * the same host. A refusal is the answer's text.
 *
 * A request is made once: retries are the caller's matter, by the same message id.
 *
 * Errors: `INVALID_OPTION` when it is made; of `AssistantError` `PROMPT_TOO_LONG`, and `MODEL_ERROR` with `details.status`
 * if the server answered; `UNSUPPORTED` for content that the protocol has no place for. None holds the key.
 *
 * @example
 * ```ts
 * import { openaiCompatible } from "@turnkeep/assistant/openai-compatible";
 *
 * const model = openaiCompatible({
 *   baseUrl: "https://api.openai.com/v1",
 *   apiKey: "…",
 *   model: "gpt-5",
 *   parameters: { temperature: 0 },
 * });
 * ```
 */
export function openaiCompatible<M extends ModelMessageLike>(options: OpenAICompatibleOptions): Model<M> {
  checkOptions("openaiCompatible", options);
  const server = new URL(options.baseUrl).host;
  return async (request) => {
    const answer = await complete(options, {
      ...request,
      messages: toWire(request.messages, { server, tools: namesOf(request) }),
      tools: toolsOf(request),
    });
    // A message of an assistant is in the shape that both majors of the AI SDK have.
    return responseOf(fromWire(answer.message, server) as unknown as M, answer);
  };
}

/**
 * The same over a memory of OpenAI's chat messages (`openaiFormat` of `@turnkeep/formats/openai`): messages go out as they
 * are stored, and answers are stored as they come, members that only one server knows among them. Only calls whose name or
 * arguments servers refuse, as the model made them up or was cut off, go out so that they take them.
 *
 * @example
 * ```ts
 * import { createAssistant } from "@turnkeep/assistant";
 * import { openaiMessages } from "@turnkeep/assistant/openai";
 * import { openaiCompatibleChat } from "@turnkeep/assistant/openai-compatible";
 * import { createChatMemory } from "@turnkeep/core";
 * import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
 *
 * const assistant = createAssistant({
 *   model: openaiCompatibleChat({ baseUrl: "http://localhost:8000/v1", model: "qwen3" }),
 *   memory: createChatMemory({ format: openaiFormat }),
 *   messages: openaiMessages<ChatMessage>(),
 * });
 * ```
 */
export function openaiCompatibleChat<M extends ChatMessageLike>(options: OpenAICompatibleOptions): Model<M> {
  checkOptions("openaiCompatibleChat", options);
  return async (request) => {
    const messages = withSentCalls(request.messages, namesOf(request));
    const answer = await complete(options, { ...request, messages, tools: toolsOf(request) });
    return responseOf(answer.message as ChatAssistantMessage as unknown as M, answer);
  };
}

function namesOf<M>({ tools }: ModelRequest<M>): ReadonlySet<string> {
  return new Set(tools.map(({ name }) => name));
}

function toolsOf<M>({ tools }: ModelRequest<M>): Record<string, unknown>[] {
  return tools.map(({ name, description, inputSchema: parameters }) => ({
    type: "function",
    function: { name, ...(description === undefined ? {} : { description }), parameters },
  }));
}

function responseOf<M>(message: M, { usage, model, finishReason }: ChatAnswer): ModelResponse<M> {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage ?? {};
  return { message, usage: { inputTokens, outputTokens }, model, finishReason };
}
