import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { memoryOf } from "@turnkeep/core/store-kit";
import { copyOf } from "./format/dict.ts";
import { langchainFormat } from "./format.ts";

/** Which conversation a {@link TurnkeepChatMessageHistory} is of. */
export interface TurnkeepChatMessageHistoryInput {
  /** Where the conversations are kept: `createChatMemories({ format: langchainFormat, … })`. */
  readonly memories: ChatMemories<BaseMessage>;
  /** The id of the conversation. */
  readonly sessionId: string;
  /**
   * On whose behalf, such as the user of a request: a conversation of another owner is `OWNER_MISMATCH`. `undefined` is
   * refused, so that a forgotten user does not have everybody's conversations.
   */
  readonly owner?: string;
}

/**
 * A chat message history of LangChain over a Turnkeep memory, for `RunnableWithMessageHistory` and wherever else a
 * history is taken. It is a record: `getMessages` returns everything that was said and not taken back, evicted messages
 * too. What a model is shown, within a window, is `history.memory.messages()`.
 *
 * @example
 * ```ts
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { langchainFormat, TurnkeepChatMessageHistory } from "@turnkeep/langchain";
 *
 * const memories = createChatMemories({ store: inMemoryStore(), format: langchainFormat });
 * const history = new TurnkeepChatMessageHistory({ memories, sessionId: "chat-1", owner: "ann" });
 * await history.addUserMessage("Hello");
 * const messages = await history.getMessages();
 * ```
 */
export class TurnkeepChatMessageHistory extends BaseListChatMessageHistory {
  override lc_namespace: string[] = ["langchain", "stores", "message", "turnkeep"];

  /** The memory behind the history: its window, versions and summaries. */
  readonly memory: ChatMemory<BaseMessage>;

  /** Reads nothing yet. Errors: `INVALID_OPTION` for a session id or an owner that is no id. */
  constructor({ memories, sessionId, ...asked }: TurnkeepChatMessageHistoryInput) {
    // Nothing of it is to be serialized.
    super();
    this.memory = memoryOf(memories, { id: sessionId, ...asked }, langchainFormat, "langchainFormat");
  }

  static override lc_name(): string {
    return "TurnkeepChatMessageHistory";
  }

  /**
   * All messages, oldest first, as new instances that are yours to change. Errors: `OWNER_MISMATCH`, `CORRUPT_RECORD`
   * with the id of a message that cannot be read, `STORE_UNAVAILABLE` and what else a memory's calls may fail with.
   */
  override async getMessages(): Promise<BaseMessage[]> {
    const messages: BaseMessage[] = [];
    const query = { states: ["live", "evicted"], limit: 1000 } as const;
    for await (const page of this.memory.historyPages(query)) {
      for (const error of page.errors) throw error;
      messages.push(...page.messages.map(({ message }) => copyOf(message)));
    }
    return messages;
  }

  /** Adds a message. Errors: as `addMessages`. */
  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /**
   * Adds messages in one step, all or none, beside what others add at the same time. Of system messages the newest takes
   * the place of the one before. Errors: `INVALID_MESSAGE`, `MESSAGE_TOO_LARGE`, `OWNER_MISMATCH`, `STORE_UNAVAILABLE`.
   */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    await this.memory.add(...messages);
  }

  /** Deletes the conversation with all that was ever said in it. */
  override async clear(): Promise<void> {
    await this.memory.clear();
  }
}
