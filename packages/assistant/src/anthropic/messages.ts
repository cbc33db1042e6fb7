import type { AssistantMessages, ToolCall, ToolResult } from "../messages.ts";

/**
 * What an assistant reads in an Anthropic message. `AnthropicMessage` of `@turnkeep/formats/anthropic` has this shape,
 * and so does `MessageParam` of the `@anthropic-ai/sdk` package.
 */
export interface AnthropicMessageLike {
  readonly role: string;
  readonly content: unknown;
}

interface AnyBlock {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * How an assistant reads and makes Anthropic's messages. It ignores calls that the API runs itself (`server_tool_use`).
 * If the API pauses at such calls (`stop_reason` `"pause_turn"`), the answer is not whole: the model function must ask
 * again with what it has, and return both contents as one. If an answer was cut off (`"max_tokens"` and others), its
 * last call may be a fragment that the client completed to valid JSON: report the cut as `finishReason`, and the call
 * is not run.
 *
 * @example
 * ```ts
 * import Anthropic from "@anthropic-ai/sdk";
 * import { createAssistant, type Model } from "@turnkeep/assistant";
 * import { anthropicMessages } from "@turnkeep/assistant/anthropic";
 * import { createChatMemory } from "@turnkeep/core";
 * import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
 *
 * const client = new Anthropic({ apiKey: "…" });
 * const model: Model<AnthropicMessage> = async ({ messages, signal }) => {
 *   const request = { model: "claude-sonnet-5-5", max_tokens: 1000, messages: [...messages] };
 *   const { role, content, usage, stop_reason } = await client.messages.create(request, { signal });
 *   const isCut = stop_reason === "max_tokens" || stop_reason === "model_context_window_exceeded";
 *   const finishReason = isCut ? "length" : stop_reason === "refusal" ? "content-filter" : "stop";
 *   const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
 *   const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
 *   const inputTokens = usage.input_tokens + cachedInputTokens + cacheWriteTokens; // the API counts them apart
 *   return { message: { role, content }, usage: { inputTokens, cachedInputTokens, cacheWriteTokens }, finishReason };
 * };
 * const assistant = createAssistant({
 *   model,
 *   memory: createChatMemory({ format: anthropicFormat }),
 *   messages: anthropicMessages<AnthropicMessage>(),
 * });
 * ```
 */
export function anthropicMessages<M extends AnthropicMessageLike>(): AssistantMessages<M> {
  return {
    completesInputs: true,
    // Made in the shape that every type of Anthropic's messages has.
    system: (text) => ({ role: "system", content: text }) as unknown as M,
    user: (text) => ({ role: "user", content: text }) as unknown as M,
    assistant: (text) => ({ role: "assistant", content: text }) as unknown as M,
    text: (message) =>
      typeof message.content === "string"
        ? message.content
        : blocksOf(message)
            .flatMap((block) => (block.type === "text" ? [block.text as string] : []))
            .join(""),
    toolCalls: (message) =>
      blocksOf(message).flatMap(({ type, id, name, input }): ToolCall[] =>
        type === "tool_use" ? [{ id: id as string, name: name as string, input }] : [],
      ),
    toolResult: ({ toolCallId, output, isError }) =>
      ({
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: toolCallId,
            content: typeof output === "string" ? output : JSON.stringify(output),
            ...(isError ? { is_error: true } : {}),
          },
        ],
      }) as unknown as M,
    toolResults: (message) =>
      blocksOf(message).flatMap(({ type, tool_use_id: id, content, is_error: isError }): ToolResult[] =>
        type === "tool_result"
          ? [{ toolCallId: id as string, toolName: "", output: content ?? "", isError: isError === true }]
          : [],
      ),
  };
}

function blocksOf({ content }: AnthropicMessageLike): readonly AnyBlock[] {
  return Array.isArray(content) ? content : [];
}
