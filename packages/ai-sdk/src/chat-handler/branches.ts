import type { ChatMemory } from "@turnkeep/core";
import type { UIMessage } from "ai";
import { isSeen, newestOf, placeOf, standing } from "./places.ts";
import type { Question } from "./posted.ts";
import { goneOn, notAsked, Refusal } from "./refusal.ts";

type Memory = ChatMemory<UIMessage>;

/**
 * Where a tab shows another branch than the one that stands: a message of it, and the newest message that stands. Only a tab
 * that has seen that may put it back.
 */
export async function otherBranch(
  memory: Memory,
  question: Question,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<{ readonly id: string; readonly newest: UIMessage } | undefined> {
  if (parentId === undefined) return undefined;
  const ids = [question.id, ...(parentId === null ? [] : [parentId])];
  const { messages } = await memory.history({ ids });
  const shown = messages.find(({ id }) => id === question.id) ?? messages[0];
  if (shown?.state !== "superseded") return undefined;
  if (shown.id === question.id && shown.message.role !== "user") throw notAsked;
  const newest = await newestOf(memory);
  if (newest === undefined || !isSeen(newest, seen)) throw new Refusal(409, goneOn);
  return { id: shown.id, newest: newest.message };
}

/** Makes the branch that the tab shows the conversation. Answers the newest message, which the tab then has seen. */
export async function toBranch(
  memory: Memory,
  question: Question,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<string | undefined> {
  const other = await otherBranch(memory, question, seen, parentId);
  if (other === undefined) return seen;
  await memory.restore(other.id);
  return (await newestOf(memory))?.id;
}

/**
 * What stands behind the message that a new question follows, which it takes back. Nothing, if it follows the newest
 * message that its tab has seen: what others have said there meanwhile stays, and it comes behind that.
 */
export async function followingOf(
  memory: Memory,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<{ readonly first?: string | undefined; readonly newest?: UIMessage }> {
  if (parentId === undefined || parentId === seen) return {};
  const first = parentId === null ? await firstOf(memory) : await behind(memory, parentId);
  const newest = first === undefined ? undefined : await newestOf(memory);
  if (newest === undefined) return {};
  if (!isSeen(newest, seen)) throw new Refusal(409, goneOn);
  return { first, newest: newest.message };
}

/** The first message that follows none; a prompt in front stands apart. */
async function firstOf(memory: Memory): Promise<string | undefined> {
  for await (const { messages } of memory.historyPages({ states: standing, branches: true })) {
    const first = messages.find(({ parent }) => parent !== undefined);
    if (first !== undefined) return first.id;
  }
  return undefined;
}

/** What stands behind a message, if a question does: an answer that failed is not in the way of the next question. */
async function behind(memory: Memory, messageId: string): Promise<string | undefined> {
  const place = await placeOf(memory, messageId);
  return place === undefined || place.isLastQuestion ? undefined : place.behind;
}
