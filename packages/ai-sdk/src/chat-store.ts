import { type ChatMemories, type ChatMemory, entry, type HistoryMessage } from "@turnkeep/core";
import { chatMemories, despiteConflicts, type Fields, such, takeOptions } from "@turnkeep/core/store-kit";
import { generateId, type UIMessage } from "ai";
import { chatOf } from "./chat-of.ts";
import { changeTo } from "./chat-store/change.ts";

/** Options of {@link chatStore}. */
export interface ChatStoreOptions<M extends UIMessage = UIMessage> {
  /** Where the chats are kept: `createChatMemories({ format: uiMessageFormat(), … })`. */
  readonly memories: ChatMemories<M>;
  /** On whose behalf, such as the user of a request: a chat of another owner is `OWNER_MISMATCH`. */
  readonly owner: string | (() => string | Promise<string>);
}

/** The functions of the SDK's guide to message persistence. */
export interface ChatStore<M extends UIMessage = UIMessage> {
  /** A new id. The chat begins with the first message that is saved. */
  createChat(): Promise<string>;
  /**
   * All messages of a chat that were not taken back, oldest first, whatever its window shows; none if there is no such
   * chat. They are yours to change. What the model is to be shown is `memory.messages()`.
   */
  loadChat(id: string): Promise<M[]>;
  /**
   * Saves what is new or has changed among these messages, by their ids. A question that was edited takes back what
   * stands behind it, and an answer that was made anew the one before. What others have said meanwhile stays.
   *
   * Errors: as `ChatMemory.add`; `VERSION_CONFLICT` if others kept writing.
   */
  saveChat(chat: { readonly chatId: string; readonly messages: readonly M[] }): Promise<void>;
}

const fields = {
  memories: chatMemories,
  owner: such("a text or a function", (value) => ["string", "function"].includes(typeof value)),
} satisfies Fields<ChatStoreOptions>;

/**
 * A chat store in the shape of the AI SDK's guide to message persistence, over any database of Turnkeep's. It is a
 * record: `loadChat` returns everything that was said, so that the SDK may compare and overwrite. To store each answer
 * while it streams, and for everything else behind `useChat`, use `chatHandler`.
 *
 * Errors: `INVALID_OPTION`; of its functions also `OWNER_MISMATCH`.
 *
 * @example
 * ```ts
 * import { chatStore } from "@turnkeep/ai-sdk";
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
 * import type { UIMessage } from "ai";
 *
 * const memories = createChatMemories({ store: inMemoryStore(), format: uiMessageFormat<UIMessage>() });
 * const { createChat, loadChat, saveChat } = chatStore({ memories, owner: "ann" });
 * const chatId = await createChat();
 * await saveChat({ chatId, messages: [{ id: "m-1", role: "user", parts: [{ type: "text", text: "Hello" }] }] });
 * console.log((await loadChat(chatId)).length); // 1
 * ```
 */
export function chatStore<M extends UIMessage>(options: ChatStoreOptions<M>): ChatStore<M> {
  takeOptions("chatStore's argument", fields, options as unknown as ChatStoreOptions);
  const { memories, owner } = options;
  const open = async (id: string): Promise<ChatMemory<M>> =>
    chatOf(memories, id, typeof owner === "function" ? await owner() : owner);
  return {
    createChat: async () => generateId(),
    async loadChat(id) {
      const record = await recordOf(await open(id));
      return record
        .filter(({ state }) => state !== "superseded")
        .map(({ message }) => structuredClone(message));
    },
    async saveChat({ chatId, messages }) {
      const memory = await open(chatId);
      await despiteConflicts(() => save(memory, messages));
    },
  };
}

function save<M extends UIMessage>(memory: ChatMemory<M>, messages: readonly M[]): Promise<void> {
  return memory.transaction(
    async (transaction) => {
      const { rewind, put, add } = changeTo(await recordOf(memory), messages, memory.format);
      for (const { id, message } of put) transaction.put(id, message);
      if (rewind !== undefined) transaction.rewind(rewind);
      transaction.add(...add.map(({ id, message }) => entry(message, { id })));
    },
    // The change is from the record as it was at its beginning.
    { onConflict: "throw" },
  );
}

/** Everything that was said, what was taken back among it. Errors: `CORRUPT_RECORD` and `UNSUPPORTED_VERSION`. */
async function recordOf<M extends UIMessage>(memory: ChatMemory<M>): Promise<HistoryMessage<M>[]> {
  const record: HistoryMessage<M>[] = [];
  for await (const { messages, errors } of memory.historyPages({ limit: 1000 })) {
    for (const error of errors) throw error;
    record.push(...messages);
  }
  return record;
}
