import type { Omission } from "@turnkeep/core";
import {
  type AnyBlock,
  blocksOf,
  isCall,
  isMedia,
  isReasoning,
  isResult,
  isUnchanged,
  listOf,
  withDocumentBlocks,
} from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

/** Whether a provider would see nothing of the message. Every block but a blank text is seen. */
export function isEmptyMessage(message: AnthropicMessage): boolean {
  const content: unknown = message.content;
  if (typeof content === "string") return content.trim() === "";
  return content !== undefined && blocksOf(message).every(isBlank);
}

export function withoutParts(message: AnthropicMessage, omission: Omission): AnthropicMessage | undefined {
  const blocks = blocksOf(message);
  const calls = message.role === "assistant" ? omission.toolCalls : undefined;
  const kept = blocks.flatMap((block) => keep(block, { ...omission, toolCalls: calls }));
  if (isUnchanged(kept, blocks)) return message;
  const copy = { ...message, content: kept as readonly unknown[] } as AnthropicMessage;
  return isEmptyMessage(copy) ? undefined : copy;
}

function keep(block: AnyBlock, omission: Omission): readonly AnyBlock[] {
  if (isCall(block) && omission.toolCalls?.(block.id as string)) return [];
  if (isResult(block) && omission.toolResults?.(block.tool_use_id as string)) return [];
  if (omission.reasoning === true && isReasoning(block)) return [];
  return omission.media === true ? withoutMedia(block) : [block];
}

/** A block without its images and files. A result stays an answer; one of the provider's own must stay whole. */
function withoutMedia(block: AnyBlock): readonly AnyBlock[] {
  if (isMedia(block)) return [];
  if (block.type === "tool_result") {
    const blocks = listOf(block.content);
    const content = blocks.flatMap(withoutMedia);
    if (isUnchanged(content, blocks)) return [block];
    const { content: _, ...rest } = block;
    return [content.length > 0 ? { ...block, content } : (rest as AnyBlock)];
  }
  return block.type === "document" ? withDocumentBlocks(block, withoutMedia) : [block];
}

function isBlank(block: AnyBlock): boolean {
  return block.type === "text" && (block.text as string).trim() === "";
}
