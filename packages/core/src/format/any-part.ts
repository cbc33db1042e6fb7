import type { ModelMessageLike } from "./model-message.ts";

/** A part of a checked message: the members that its type asks for are there. */
export interface AnyPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

export function partsOf(message: ModelMessageLike): readonly AnyPart[] {
  return typeof message.content === "string"
    ? []
    : (message.content as readonly unknown[] as readonly AnyPart[]);
}

/** True only for what the provider packages send: they silently leave out an item without an id, or an empty text. */
export function isCompaction(part: AnyPart): boolean {
  const options = part.providerOptions as Record<string, Record<string, unknown> | undefined> | undefined;
  if (part.type === "text") return part.text !== "" && options?.anthropic?.type === "compaction";
  if (part.type !== "custom" || part.kind !== "openai.compaction") return false;
  // Azure's provider keeps the id under its own name.
  return Object.values(options ?? {}).some((own) => typeof own?.itemId === "string");
}

/**
 * What `@ai-sdk/anthropic` 4 streams before each answer: its id and usage. It is not sent to any provider, and
 * `@ai-sdk/mistral` throws on it.
 */
export function isUnsent(part: AnyPart): boolean {
  return part.type === "custom" && part.kind === "anthropic.message_start";
}

export function isReasoning(part: AnyPart): boolean {
  return part.type === "reasoning" || part.type === "reasoning-file";
}
