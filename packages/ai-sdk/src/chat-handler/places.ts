import {
  type Anchor,
  type ChatMemory,
  type HistoryMessage,
  isTurnkeepError,
  type MemoryHistoryQuery,
} from "@turnkeep/core";
import type { UIMessage } from "ai";

/** A memory, or a transaction of it with what that has changed so far. */
export type Reader = Pick<ChatMemory<UIMessage>, "entries" | "history">;

/** Messages that were not taken back. */
export const standing = ["live", "evicted"] as const;

/** Where a message stands, by the id that the browser knows it by: its own, or in a tree that of the memory. */
export interface Place {
  /** Its id in the memory. */
  readonly id: string;
  readonly message: UIMessage;
  /** The id in the memory of what stands behind it. */
  readonly behind: string | undefined;
  readonly isLastQuestion: boolean;
  /** The newest message. */
  readonly newest: HistoryMessage<UIMessage>;
}

export async function placeOf(reader: Reader, messageId: string): Promise<Place | undefined> {
  let newest: HistoryMessage<UIMessage> | undefined;
  let behind: string | undefined;
  let isLastQuestion = true;
  for await (const said of saidIn(reader, { order: "descending", states: standing, branches: true })) {
    const { id, message, parent } = said;
    // A prompt in front follows nothing, and nothing follows it, whenever it came.
    if (parent === undefined) continue;
    newest ??= said;
    if (message.id === messageId || id === messageId) return { id, message, behind, isLastQuestion, newest };
    if (message.role === "user") isLastQuestion = false;
    behind = id;
  }
  return undefined;
}

/** Everything that the query asks for, of all pages. */
export async function* saidIn(
  reader: Reader,
  query: MemoryHistoryQuery,
): AsyncGenerator<HistoryMessage<UIMessage>> {
  const border = query.order === "descending" ? "before" : "after";
  for (let next = query; ; ) {
    const { messages, hasMore } = await reader.history(next);
    yield* messages;
    if (!hasMore) return;
    next = { ...query, [border]: messages.at(-1)?.seq };
  }
}

/** Whether the newest message is the one that a tab has seen last, by the id that it knows it by. */
export function isSeen({ id, message }: HistoryMessage<UIMessage>, seen: string | undefined): boolean {
  return seen === id || seen === message.id;
}

/**
 * A chat stays one when all that was said in it was deleted or taken back: the list has it. Errors: `NOT_FOUND` for one that is
 * not there, which the browser is told as of somebody else's.
 */
export async function checkExists(memory: ChatMemory<UIMessage>): Promise<void> {
  await memory.anchor();
}

/** What holds on to a chat; `false` for one that has not begun. */
export async function anchorOf(memory: ChatMemory<UIMessage>): Promise<Anchor | false> {
  return memory.anchor().catch((error: unknown) => {
    if (!isTurnkeepError(error, "NOT_FOUND")) throw error;
    return false;
  });
}

/** The newest message. It is live: a window evicts from the front. */
export async function newestOf(reader: Reader): Promise<HistoryMessage<UIMessage> | undefined> {
  return (await reader.entries()).at(-1);
}

/** A message as it is stored now, by its id in the memory. The window may have moved past it. */
export async function standingNow(reader: Reader, id: string): Promise<UIMessage | undefined> {
  const { messages } = await reader.history({ ids: [id], states: standing });
  return messages[0]?.message;
}
