import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { invalidOption, wrongOption } from "@turnkeep/core/store-kit";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";

const formatName = uiMessageFormat<UIMessage>().name;

/** What an option `memories` must be. */
export function memoriesCheck(name: string, value: unknown): void {
  const isMemories = typeof (value as { readonly get?: unknown } | null)?.get === "function";
  if (!isMemories) throw wrongOption(name, value, "what createChatMemories returns");
}

/** The memory of a chat on behalf of its owner. Errors: `INVALID_OPTION`, also for memories of another format. */
export function memoryOf<M extends UIMessage>(
  memories: ChatMemories<M>,
  id: string,
  owner: string,
): ChatMemory<M> {
  const memory = memories.get(id, { owner });
  if (memory.format.name === formatName) return memory;
  throw invalidOption(
    `The memories are of the format ${memory.format.name}. Make them by createChatMemories({ format: uiMessageFormat(), … }).`,
  );
}
