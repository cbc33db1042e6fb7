import type { MessageTree, TurnkeepChatTransport } from "@turnkeep/ai-sdk/client";
import type { UIMessage, UIMessageChunk } from "ai";
import type { ResumableAnswers, ThreadTransport } from "../chat-threads.ts";
import type { ThreadIds } from "./ids.ts";

type Chats<M extends UIMessage> = TurnkeepChatTransport<M>;
type SendOptions<M extends UIMessage> = Parameters<Chats<M>["sendMessages"]>[0];
type ReconnectOptions<M extends UIMessage> = Parameters<Chats<M>["reconnectToStream"]>[0];
type Chunks = ReadableStream<UIMessageChunk>;

/** What is known of a chat in this page. */
interface Known {
  /** Over when its first answer is, or was refused or loaded. */
  readonly answered: Promise<void>;
  end(): void;
  /** The switch of a branch that is under way. */
  switching: Promise<unknown>;
}

/** The transport of all threads: under their ids on the server, and with the message that each question follows. */
export class Transport<M extends UIMessage> implements ThreadTransport<M> {
  readonly #chats: Chats<M>;
  readonly #ids: ThreadIds;
  readonly #known = new Map<string, Known>();
  /** The chat of each message. */
  readonly #chatOf = new Map<string, string>();
  /** Of threads that were loaded in mid-answer: the answer's id. */
  readonly #streaming = new Map<string, string>();

  constructor(chats: Chats<M>, ids: ThreadIds) {
    this.#chats = chats;
    this.#ids = ids;
  }

  async sendMessages(options: SendOptions<M>): Promise<Chunks> {
    const chatId = this.#ids.remoteOf(options.chatId);
    const { messages } = options;
    this.#noteMessages(chatId, messages);
    const known = this.#of(chatId);
    await known.switching;
    const body = { ...options.body, parentId: messages.at(-2)?.id ?? null };
    try {
      const chunks = await this.#chats.sendMessages({ ...options, chatId, body });
      return this.#noting(chatId, chunks);
    } catch (error) {
      known.end();
      throw error;
    }
  }

  async reconnectToStream(options: ReconnectOptions<M>): Promise<Chunks | null> {
    const chatId = this.#ids.remoteOf(options.chatId);
    const chunks = await this.#chats.reconnectToStream({ ...options, chatId });
    if (chunks !== null) return this.#noting(chatId, chunks);
    this.#of(chatId).end();
    return null;
  }

  getResumableAdapter(): { readonly resumeApi: string; readonly storage: ResumableAnswers } {
    const storage: ResumableAnswers = {
      getStreamId: (threadId = "") => this.#streaming.get(threadId) ?? null,
      setStreamId: (id, threadId = "") => void this.#streaming.set(threadId, id),
      clear: (threadId = "") => void this.#streaming.delete(threadId),
    };
    return { resumeApi: "", storage };
  }

  /** What the history has shown of a thread. */
  noteLoaded(threadId: string, chatId: string, { messages, headId }: MessageTree<M>): void {
    const said = messages.map(({ message }) => message);
    this.#noteMessages(chatId, said);
    const head = said.find(({ id }) => id === headId);
    if (isStreaming(head)) this.#streaming.set(threadId, head.id);
    // This page need not ask for its first answer.
    else this.#of(chatId).end();
  }

  #noteMessages(chatId: string, messages: readonly UIMessage[]): void {
    for (const { id } of messages) this.#chatOf.set(id, chatId);
  }

  /** Waits for the end of the first answer that this page shows being made in a chat, if it was not loaded whole. */
  answered(chatId: string): Promise<void> {
    return this.#of(chatId).answered;
  }

  /** Makes the branch of a message the conversation. Where it fails, the next question on that branch does it. */
  switchTo(messageId: string | null): void {
    const chatId = this.#chatOf.get(messageId ?? "");
    if (messageId === null || chatId === undefined) return;
    const known = this.#of(chatId);
    known.switching = known.switching
      .then(() => this.#chats.restoreVersion(chatId, messageId))
      .catch(() => undefined);
  }

  #of(chatId: string): Known {
    const known = this.#known.get(chatId);
    if (known !== undefined) return known;
    let end = (): void => {};
    const answered = new Promise<void>((resolve) => {
      end = resolve;
    });
    const made: Known = { answered, end, switching: Promise.resolve() };
    this.#known.set(chatId, made);
    return made;
  }

  /** An answer that was stopped, or breaks off, has ended too. */
  #noting(chatId: string, chunks: Chunks): Chunks {
    const { end } = this.#of(chatId);
    const reader = chunks.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end();
            return controller.close();
          }
          if (value.type === "start" && value.messageId !== undefined)
            this.#chatOf.set(value.messageId, chatId);
          controller.enqueue(value);
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    });
  }
}

function isStreaming(message: UIMessage | undefined): message is UIMessage {
  return (message?.metadata as { readonly status?: unknown } | undefined)?.status === "streaming";
}
