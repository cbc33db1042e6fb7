import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { memoryOf } from "@turnkeep/core/store-kit";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";

const { name } = uiMessageFormat<UIMessage>();

/** The memory of a chat on behalf of its owner. Errors: `INVALID_OPTION`, also for memories of another format. */
export function chatOf<M extends UIMessage>(
  memories: ChatMemories<M>,
  id: string,
  owner: string,
): ChatMemory<M> {
  return memoryOf(memories, { id, owner }, { name }, "uiMessageFormat()");
}
