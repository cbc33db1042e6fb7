import type { AssistantMessages, ToolCall } from "../messages.ts";

/**
 * What an assistant reads in an OpenAI chat message. `ChatMessage` of `@turnkeep/formats/openai` has this shape, and so
 * does `ChatCompletionMessageParam` of the `openai` package.
 */
export interface ChatMessageLike {
  readonly role: string;
  readonly content?: unknown;
}

/** A call as the API gives it; calls of other types hold their input elsewhere. */
interface AnyCall {
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string } | undefined;
  readonly custom?: { readonly name: string; readonly input: string } | undefined;
}

/**
 * How an assistant reads and makes OpenAI's chat messages. They cannot mark a result as an error; that shows only in
 * its text.
 *
 * @example
 * ```ts
 * import { createAssistant, type Model } from "@turnkeep/assistant";
 * import { openaiMessages } from "@turnkeep/assistant/openai";
 * import { createChatMemory } from "@turnkeep/core";
 * import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
 * import OpenAI from "openai";
 *
 * const client = new OpenAI({ apiKey: "…" });
 * const model: Model<ChatMessage> = async ({ messages, signal }) => {
 *   const request = { model: "gpt-5", messages: [...messages] };
 *   const { choices, usage } = await client.chat.completions.create(request, { signal });
 *   const [choice] = choices;
 *   if (choice === undefined) throw new Error("no choice");
 *   const finishReason = choice.finish_reason.replace("_", "-");
 *   return { message: choice.message, usage: { inputTokens: usage?.prompt_tokens }, finishReason };
 * };
 * const assistant = createAssistant({
 *   model,
 *   memory: createChatMemory({ format: openaiFormat }),
 *   messages: openaiMessages<ChatMessage>(),
 * });
 * ```
 */
export function openaiMessages<M extends ChatMessageLike>(): AssistantMessages<M> {
  return {
    // Made in the shape that every type of chat message has.
    system: (text) => ({ role: "system", content: text }) as unknown as M,
    user: (text) => ({ role: "user", content: text }) as unknown as M,
    assistant: (text) => ({ role: "assistant", content: text }) as unknown as M,
    // A refusal takes the place of a content.
    text: ({ content, refusal }: ChatMessageLike & { readonly refusal?: unknown }) =>
      textOf(content, "text") || textOf(refusal, "text") || textOf(content, "refusal"),
    toolCalls: (message) =>
      ((message as { readonly tool_calls?: readonly AnyCall[] | null | undefined }).tool_calls ?? []).flatMap(
        callOf,
      ),
    toolResult: ({ toolCallId, output }) =>
      ({
        role: "tool",
        tool_call_id: toolCallId,
        content: typeof output === "string" ? output : JSON.stringify(output),
      }) as unknown as M,
  };
}

function textOf(content: unknown, type: "text" | "refusal"): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: { type?: unknown; text?: unknown; refusal?: unknown }) =>
      part.type === type && typeof part[type] === "string" ? [part[type]] : [],
    )
    .join("");
}

function callOf(call: AnyCall): ToolCall[] {
  if (call.function !== undefined) {
    return [{ id: call.id, name: call.function.name, input: call.function.arguments }];
  }
  return call.custom === undefined ? [] : [{ id: call.id, name: call.custom.name, input: call.custom.input }];
}
