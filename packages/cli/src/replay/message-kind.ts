import { type MessageFormat, modelMessageFormat } from "@turnkeep/core";
import { openaiFormat } from "@turnkeep/formats/openai";

/** The two shapes of messages that a line may hold. */
export type MessageKind = "openai-chat" | "ai-sdk";

export const formats: Readonly<Record<MessageKind, MessageFormat<unknown>>> = {
  "openai-chat": openaiFormat,
  "ai-sdk": modelMessageFormat,
};

export const kindNames: Readonly<Record<MessageKind, string>> = {
  "openai-chat": "OpenAI chat messages",
  "ai-sdk": "AI SDK messages",
};

const openaiMembers = ["tool_calls", "tool_call_id", "function_call", "refusal", "name", "audio"];
const openaiParts = ["image_url", "input_audio", "refusal"];
const aiSdkMembers = ["providerOptions"];
const aiSdkParts = [
  "tool-call",
  "tool-result",
  "reasoning",
  "image",
  "tool-approval-request",
  "tool-approval-response",
];

/** Which shape a conversation's messages have, or why that cannot be said. What fits both counts as the AI SDK's. */
export function detectKind(
  messages: readonly Record<string, unknown>[],
): { readonly kind: MessageKind } | { readonly problem: string } {
  let first: { readonly kind: MessageKind; readonly at: number } | undefined;
  for (const [index, message] of messages.entries()) {
    const kind = kindOf(message);
    if (kind === undefined) continue;
    first ??= { kind, at: index + 1 };
    if (kind !== first.kind) {
      const [one, other] = [kindNames[first.kind], kindNames[kind]];
      return { problem: `mixes ${one} (message ${first.at}) with ${other} (message ${index + 1})` };
    }
  }
  return { kind: first?.kind ?? "ai-sdk" };
}

function kindOf(message: Record<string, unknown>): MessageKind | undefined {
  const { role, content } = message;
  if (role === "developer" || role === "function" || content === null) return "openai-chat";
  if (openaiMembers.some((member) => Object.hasOwn(message, member))) return "openai-chat";
  if (aiSdkMembers.some((member) => Object.hasOwn(message, member))) return "ai-sdk";
  if (!Array.isArray(content)) return role === "tool" ? "openai-chat" : undefined;
  for (const part of content as readonly unknown[]) {
    const kind = kindOfPart(part);
    if (kind !== undefined) return kind;
  }
  return role === "system" ? "openai-chat" : undefined;
}

function kindOfPart(part: unknown): MessageKind | undefined {
  if (typeof part !== "object" || part === null || !("type" in part)) return undefined;
  const { type } = part;
  if (type === "file") return "file" in part ? "openai-chat" : "ai-sdk";
  if (openaiParts.some((known) => known === type)) return "openai-chat";
  return aiSdkParts.some((known) => known === type) ? "ai-sdk" : undefined;
}
