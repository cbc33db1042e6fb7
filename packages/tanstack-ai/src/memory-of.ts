import type { ModelMessage } from "@tanstack/ai";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import { tanstackFormat } from "./format.ts";

/**
 * The memory of a conversation, on behalf of an owner if one is named, even as `undefined`: a forgotten user is refused.
 * Errors: `INVALID_OPTION`, also for memories of another format.
 */
export function memoryOf(
  memories: ChatMemories<ModelMessage>,
  id: string,
  asked: { readonly owner?: string | undefined },
): ChatMemory<ModelMessage> {
  const memory = "owner" in asked ? memories.get(id, { owner: asked.owner as string }) : memories.get(id);
  if (memory.format.name === tanstackFormat.name) return memory;
  throw invalidOption(
    `The memories are of the format ${memory.format.name}. Make them by createChatMemories({ format: tanstackFormat, … }).`,
  );
}
