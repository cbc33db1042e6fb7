import {
  type ChatMemories,
  type ChatMemory,
  type HistoryMessage,
  isTurnkeepError,
  type MemoryListPage,
  type MemoryListQuery,
} from "@turnkeep/core";
import type { UIMessage } from "ai";
import { type AboutChat, aboutOf } from "./about.ts";
import { ended, isStreaming } from "./metadata.ts";
import { checkExists, placeOf, standing, standingNow } from "./places.ts";
import { sendable } from "./plain.ts";
import { Refusal } from "./refusal.ts";
import { type MessageVersions, versionsIn } from "./versions.ts";

type Memory = ChatMemory<UIMessage>;
type Memories = ChatMemories<UIMessage>;

/** A page of what was said, oldest first. `before`: ask with it for the page before, if there is one. */
export interface ChatPage<M extends UIMessage = UIMessage> {
  readonly messages: M[];
  readonly before?: number;
  /** Of those that were edited or answered again, by their ids. */
  readonly versions?: Record<string, MessageVersions>;
}

/** A chat in a list. */
export interface ListedChat extends AboutChat {
  /** When something happened in it last, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** A page of chats. `cursor`: ask with it for the next page, if there is one. */
export interface ChatList {
  readonly chats: ListedChat[];
  readonly cursor?: string;
}

const mostPerPage = 200;

export async function page(memory: Memory, query: URLSearchParams): Promise<ChatPage> {
  const [before, limit] = [numberIn(query, "before"), numberIn(query, "limit") ?? 50];
  const { messages, hasMore } = await memory.history({
    order: "descending",
    states: standing,
    before,
    limit: Math.min(limit, mostPerPage),
    branches: true,
  });
  const oldest = messages.at(-1);
  if (oldest === undefined) await checkExists(memory);
  // A prompt in front follows nothing: it is the application's.
  const said = messages.reverse().filter(({ parent }) => parent !== undefined);
  const versions = await versionsIn(memory, said);
  return {
    messages: await Promise.all(said.map(async (shown) => sendable(await marked(memory, shown)))),
    ...(hasMore && oldest && { before: oldest.seq }),
    ...(Object.keys(versions).length > 0 && { versions }),
  };
}

/** An answer that nobody makes any more says so. */
export async function marked(memory: Memory, { id, message }: HistoryMessage<UIMessage>): Promise<UIMessage> {
  if (!isStreaming(message) || (await memory.running())) return message;
  // A turn that has ended since the page was read has stored its last.
  const now = (await standingNow(memory, id)) ?? message;
  return isStreaming(now) ? ended(now, "interrupted") : now;
}

export async function list(memories: Memories, owner: string, query: URLSearchParams): Promise<ChatList> {
  const limit = Math.min(numberIn(query, "limit") ?? 50, mostPerPage);
  const cursor = query.get("cursor") ?? undefined;
  const listed = await newestFirst(memories, { owner, limit, cursor }).catch((error: unknown) => {
    // Nothing else of the query is the browser's.
    if (cursor === undefined || !isTurnkeepError(error, "INVALID_OPTION")) throw error;
    throw new Refusal(400, "cursor must be that of an earlier page.");
  });
  const chats = listed.memories.map(({ memoryId, data, updatedAt }) => ({
    ...aboutOf(memoryId, data),
    updatedAt,
  }));
  return { chats, ...(listed.cursor !== undefined && { cursor: listed.cursor }) };
}

/** In the store's own order where it knows no other, which is the same for every page. */
async function newestFirst(memories: Memories, query: MemoryListQuery): Promise<MemoryListPage> {
  try {
    return await memories.list({ ...query, order: "newest" });
  } catch (error) {
    if (!isTurnkeepError(error, "UNSUPPORTED")) throw error;
    return memories.list(query);
  }
}

/** Deletes a chat, and ends the answer that is being made in it. */
export async function removeChat(memory: Memory): Promise<void> {
  await checkExists(memory);
  await memory.requestStop();
  await memory.clear();
}

/** Deletes one message, of an answer all that it holds. What is being made ends if it is that answer, or its question. */
export async function removeMessage(memory: Memory, messageId: string): Promise<void> {
  await checkExists(memory);
  const place = await placeOf(memory, messageId);
  const said = place ?? (await memory.history({ ids: [messageId] })).messages[0];
  // What the application says is not the user's to delete.
  if (said === undefined || said.message.role === "system") throw new Refusal(404, "No such message.");
  const { id } = said;
  if (place !== undefined && isStreaming(place.newest.message)) {
    const isItsQuestion = place.isLastQuestion && place.message.role === "user";
    if (isItsQuestion || id === place.newest.id) await memory.requestStop();
  }
  await memory.remove(id);
}

export async function stop(memory: Memory): Promise<{ stopped: boolean }> {
  await checkExists(memory);
  return { stopped: await memory.requestStop() };
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Refusal(400, `${name} must be a positive integer.`);
  return Number(text);
}
