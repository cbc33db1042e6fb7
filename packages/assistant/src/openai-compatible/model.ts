import type { ModelMessage, ModelMessageLike } from "@turnkeep/core";
import type { Model, ModelRequest, ModelResponse, ModelUsage } from "../model.ts";
import type { ChatMessageLike } from "../openai/messages.ts";
import { fromWire, toWire } from "./convert.ts";
import { type ChatAnswer, complete } from "./http.ts";
import { checkOptions, type OpenAICompatibleOptions } from "./options.ts";
import { withSentCalls } from "./sent-calls.ts";
import type { WireCall, WireUsage } from "./wire.ts";

/** An answer as the server gave it, with members that only that server knows. */
export interface ChatAssistantMessage {
  role: "assistant";
  content?: string | null;
  tool_calls?: WireCall[];
  [member: string]: unknown;
}

/**
 * A model behind a server that speaks OpenAI's Chat Completions protocol (OpenAI, Azure, Mistral, Groq, OpenRouter,
 * vLLM, llama.cpp, Ollama and others), over a memory of the default format. It streams if somebody follows the answer.
 *
 * Reasoning that a server needs back (`reasoning_content`, `reasoning_details`) is kept with the answer, and sent only
 * to the same host; DeepSeek and Kimi get an empty one for answers with calls of which none is known, and xAI an
 * empty content beside calls. A refusal becomes the
 * answer's text.
 *
 * A request is sent once: to retry, call the chat again with the same message id.
 *
 * Errors: `INVALID_OPTION` at creation; of `AssistantError`, `PROMPT_TOO_LONG`, and `MODEL_ERROR` with `details.status`
 * if the server responded; `UNSUPPORTED` for content that the protocol cannot carry. None contains the key.
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
export function openaiCompatible<M extends ModelMessageLike = ModelMessage>(
  options: OpenAICompatibleOptions,
): Model<M> {
  checkOptions("openaiCompatible", options);
  const server = new URL(options.baseUrl).host;
  return async (request) => {
    const answer = await complete(options, {
      ...request,
      messages: toWire(request.messages, { server, tools: namesOf(request) }),
      tools: toolsOf(request),
    });
    // An assistant message has the same shape in both majors of the AI SDK.
    return responseOf(fromWire(answer.message, server) as unknown as M, answer);
  };
}

/**
 * The same over a memory of OpenAI's chat messages (`openaiFormat` of `@turnkeep/formats/openai`). Messages are sent as
 * they are stored, and answers stored as they come, with members that only one server knows. Only calls whose name or
 * arguments servers refuse, because the model made them up or was cut off, are changed for sending.
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
  const server = new URL(options.baseUrl).host;
  return async (request) => {
    const messages = withSentCalls(request.messages, { server, tools: namesOf(request) });
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
  return { message, usage: usageOf(usage), model, finishReason };
}

function usageOf(usage: WireUsage = {}): ModelUsage {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  return {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cachedInputTokens: input?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    // OpenRouter's.
    cacheWriteTokens: input?.cache_write_tokens,
    reasoningTokens: output?.reasoning_tokens,
  };
}
