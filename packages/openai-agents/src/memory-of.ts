import type { AgentInputItem } from "@openai/agents-core";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import { agentsFormat } from "./format.ts";

/**
 * The memory of a conversation, on behalf of an owner if one is named, even as `undefined`: a forgotten user is refused.
 * Errors: `INVALID_OPTION`, also for memories of another format.
 */
export function memoryOf(
  memories: ChatMemories<AgentInputItem>,
  id: string,
  asked: { readonly owner?: string | undefined },
): ChatMemory<AgentInputItem> {
  const memory = "owner" in asked ? memories.get(id, { owner: asked.owner as string }) : memories.get(id);
  if (memory.format.name === agentsFormat.name) return memory;
  throw invalidOption(
    `The memories are of the format ${memory.format.name}. Make them by createChatMemories({ format: agentsFormat, … }).`,
  );
}
