import type { ChatMemory, HistoryMessage } from "@turnkeep/core";
import type { UIMessage } from "ai";

type Memory = ChatMemory<UIMessage>;

/** Messages that were not taken back. */
export const standing = ["live", "evicted"] as const;

/** Where a message stands, by the id that the browser knows it by. */
export interface Place {
  /** Its id in the memory. */
  readonly id: string;
  readonly message: UIMessage;
  /** The id in the memory of what stands behind it. */
  readonly behind: string | undefined;
  readonly isLastQuestion: boolean;
  /** The newest message. */
  readonly newest: UIMessage;
}

export async function placeOf(memory: Memory, messageId: string): Promise<Place | undefined> {
  let newest: UIMessage | undefined;
  let behind: string | undefined;
  let isLastQuestion = true;
  for await (const page of memory.historyPages({ order: "descending", states: standing })) {
    for (const { id, message } of page.messages) {
      newest ??= message;
      if (message.id === messageId) return { id, message, behind, isLastQuestion, newest };
      if (message.role === "user") isLastQuestion = false;
      behind = id;
    }
  }
  return undefined;
}

/** The newest message. It is live: a window evicts from the front. */
export async function newestOf(memory: Memory): Promise<HistoryMessage<UIMessage> | undefined> {
  return (await memory.entries()).at(-1);
}

/** A message as it is stored now, by its id in the memory. The window may have moved past it. */
export async function standingNow(memory: Memory, id: string): Promise<UIMessage | undefined> {
  const { messages } = await memory.history({ ids: [id], states: standing });
  return messages[0]?.message;
}
