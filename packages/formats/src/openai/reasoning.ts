import { asText } from "../as-text.ts";
import type { ChatMessage } from "./messages.ts";

/**
 * OpenAI's API shows no reasoning in chat messages. Servers that speak it too add it under these names: DeepSeek and
 * vLLM `reasoning_content`, OpenRouter `reasoning` and `reasoning_details`.
 */
export const reasoningMembers = ["reasoning_content", "reasoning", "reasoning_details"] as const;

export function reasoningOf(message: ChatMessage): readonly string[] {
  if (message.role !== "assistant") return [];
  const values = message as Partial<Record<(typeof reasoningMembers)[number], unknown>>;
  return reasoningMembers.flatMap((member) => {
    const text = asText(values[member]);
    return text === "" ? [] : [text];
  });
}

export function withoutReasoning(message: ChatMessage): ChatMessage {
  if (reasoningOf(message).length === 0) return message;
  const copy: Record<string, unknown> = { ...message };
  for (const member of reasoningMembers) delete copy[member];
  return copy as unknown as ChatMessage;
}
