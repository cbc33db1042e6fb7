import type { ChatMemories } from "./chat-memories.ts";
import type { ChatMemory } from "./chat-memory.ts";
import { invalidOption } from "./errors.ts";
import type { MessageFormat } from "./message-format.ts";
import { type Check, such } from "./option-checks.ts";

/**
 * What `createChatMemories` returns, for the options of a bridge.
 *
 * @example
 * ```ts
 * import { chatMemories, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { memories: chatMemories, owner: optional() };
 * ```
 */
export const chatMemories: Check<never> = such(
  "what createChatMemories returns",
  (value) => typeof (value as { readonly get?: unknown } | null)?.get === "function",
);

/**
 * The memory of a conversation, for a bridge: on behalf of an owner if one is named, even as `undefined`, so that a forgotten
 * user is refused. Reads nothing yet. `written`: how an application writes the bridge's format.
 *
 * Errors: `INVALID_OPTION` for what is no id or owner, and for memories of another format.
 *
 * @example
 * ```ts
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { memoryOf } from "@turnkeep/core/store-kit";
 * import { geminiFormat } from "@turnkeep/formats/gemini";
 *
 * const memories = createChatMemories({ store: inMemoryStore(), format: geminiFormat });
 * const memory = memoryOf(memories, { id: "chat-1", owner: "ann" }, geminiFormat, "geminiFormat");
 * ```
 */
export function memoryOf<M>(
  memories: ChatMemories<M>,
  { id, ...asked }: { readonly id: string; readonly owner?: string | undefined },
  format: Pick<MessageFormat<M>, "name">,
  written: string,
): ChatMemory<M> {
  const memory = "owner" in asked ? memories.get(id, { owner: asked.owner as string }) : memories.get(id);
  if (memory.format.name === format.name) return memory;
  throw invalidOption(
    `The memories are of the format ${memory.format.name}. Make them by createChatMemories({ format: ${written}, … }).`,
  );
}
