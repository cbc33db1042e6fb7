import type { ChatMemory, HistoryMessage } from "@turnkeep/core";
import type { UIMessage } from "ai";
import { ended, isStreaming } from "./metadata.ts";
import { marked } from "./pages.ts";
import { checkExists } from "./places.ts";
import { sendable } from "./plain.ts";

type Memory = ChatMemory<UIMessage>;

/** All that was said, each message behind the one that it follows. */
export interface ChatTree<M extends UIMessage = UIMessage> {
  /** Messages with the same `parentId` are versions of one another; `null`: it follows none. */
  readonly messages: { readonly parentId: string | null; readonly message: M }[];
  /** The newest message of the conversation as it stands. */
  readonly headId?: string;
}

/** By the ids in the memory: versions of a question may have one id of their own in common. */
export async function tree(memory: Memory): Promise<ChatTree> {
  const messages: { parentId: string | null; message: UIMessage }[] = [];
  const ids = new Map<number, string>();
  /** The `seq` of the newest message so far that was not taken back. */
  let head = 0;
  for await (const page of memory.historyPages({ branches: true, limit: 1000 })) {
    for (const said of page.messages) {
      const { id, seq, state, parent } = said;
      // A prompt in front follows nothing, and nothing follows it.
      if (parent === undefined) continue;
      messages.push({
        parentId: leftOf(ids, parent),
        message: { ...sendable(await shownOf(memory, said)), id },
      });
      ids.set(seq, id);
      if (state !== "superseded") head = seq;
    }
  }
  const headId = ids.get(head);
  if (headId === undefined) await checkExists(memory);
  return { messages, ...(headId !== undefined && { headId }) };
}

/** The parent, or what is left before it where that was removed. */
function leftOf(ids: ReadonlyMap<number, string>, parent: number): string | null {
  for (let seq = parent; seq > 0; seq--) {
    const id = ids.get(seq);
    if (id !== undefined) return id;
  }
  return null;
}

async function shownOf(memory: Memory, said: HistoryMessage<UIMessage>): Promise<UIMessage> {
  if (said.state !== "superseded") return marked(memory, said);
  return isStreaming(said.message) ? ended(said.message, "interrupted") : said.message;
}
