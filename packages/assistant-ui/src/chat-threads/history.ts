import type {
  GenericThreadHistoryAdapter,
  MessageFormatAdapter,
  ThreadHistoryAdapter,
} from "@assistant-ui/react";
import type { MessageTree, TurnkeepChatTransport } from "@turnkeep/ai-sdk/client";
import type { UIMessage } from "ai";
import type { Transport } from "./transport.ts";

/** The format in which `useChatRuntime` would have messages stored: the AI SDK's, as `chatHandler` stores them. */
const uiMessages = "ai-sdk/v6";

/** A thread as assistant-ui knows it; one that nobody has begun has no `remoteId`. */
interface Thread {
  readonly id: string;
  readonly remoteId?: string | undefined;
}

/** A thread's history. What it is asked to store, the server has stored already. */
export function threadHistory<M extends UIMessage>(
  chats: TurnkeepChatTransport<M>,
  transport: Transport<M>,
  thread: () => Thread,
): ThreadHistoryAdapter {
  async function load(): Promise<MessageTree<M>> {
    const { id: threadId, remoteId: chatId } = thread();
    if (chatId === undefined) return { messages: [] };
    const tree = await chats.tree(chatId);
    transport.noteLoaded(threadId, chatId, tree);
    return tree;
  }
  return {
    load: refuse,
    append: refuse,
    withFormat<Message, Stored extends Record<string, unknown>>(
      format: MessageFormatAdapter<Message, Stored>,
    ): GenericThreadHistoryAdapter<Message> {
      if (format.format !== uiMessages) return refuse();
      return {
        async load() {
          const { messages, ...tree } = await load();
          return { ...tree, messages: messages.map((said) => itemOf(said, format)) };
        },
        append: async () => undefined,
        // With it, a call that waits for the user is as good as stored.
        update: async () => undefined,
        async delete(items) {
          const { remoteId } = thread();
          if (remoteId === undefined) return;
          for (const { message } of items) await chats.deleteMessage(remoteId, format.getId(message));
        },
      };
    },
  };
}

function itemOf<Message, Stored extends Record<string, unknown>>(
  { parentId, message }: MessageTree<UIMessage>["messages"][number],
  format: MessageFormatAdapter<Message, Stored>,
) {
  const { id, ...content } = message;
  return format.decode({
    id,
    parent_id: parentId,
    format: uiMessages,
    content: content as unknown as Stored,
  });
}

function refuse(): never {
  throw new Error(
    "chatThreads keeps what chatHandler answers: use its adapter and its transport with useChatRuntime.",
  );
}
