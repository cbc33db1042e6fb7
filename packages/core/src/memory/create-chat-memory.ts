import type { ChatMemory } from "../chat-memory.ts";
import type { ChatMemoryOptions } from "../chat-memory-options.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { AnyMessage } from "../message-format.ts";
import { type DefaultFormat, type FormatOption, memorySettings, type OwnFormat } from "./options.ts";
import { ToldChatMemory } from "./stored-chat-memory.ts";

/**
 * Creates a chat memory: one conversation, within a budget, kept in a store. Without a store it lives in this process.
 *
 * Errors: `INVALID_OPTION` for an option of the wrong shape, and for a store without an id, since all users would then
 * share one memory.
 *
 * @example
 * ```ts
 * import { createChatMemory, inMemoryStore, user } from "@turnkeep/core";
 *
 * const store = inMemoryStore();
 * const memory = createChatMemory({ id: "chat-1", store, window: { maxMessages: 20 } });
 * await memory.add(user("Hello"));
 * console.log(await memory.messages()); // [{ role: "user", content: "Hello" }]
 * ```
 */
export function createChatMemory<M extends ModelMessageLike = ModelMessage>(
  options?: ChatMemoryOptions<NoInfer<M>> & DefaultFormat,
): ChatMemory<M>;
export function createChatMemory<M extends AnyMessage>(
  options: ChatMemoryOptions<NoInfer<M>> & OwnFormat<M>,
): ChatMemory<M>;
export function createChatMemory<M>(options: ChatMemoryOptions<M> & FormatOption<M> = {}): ChatMemory<M> {
  return new ToldChatMemory(memorySettings(options));
}
