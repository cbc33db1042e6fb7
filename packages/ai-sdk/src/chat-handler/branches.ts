import type { UIMessage } from "ai";
import { isSeen, newestOf, placeOf, type Reader, saidIn, standing } from "./places.ts";
import type { Question } from "./posted.ts";
import { goneOn, notAsked, Refusal } from "./refusal.ts";

/**
 * Where a tab shows another branch than the one that stands: a message of it, and the newest message that stands. Only a tab
 * that has seen that may put it back.
 */
export async function otherBranch(
  reader: Reader,
  question: Question,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<{ readonly id: string; readonly newest: UIMessage } | undefined> {
  if (parentId === undefined) return undefined;
  const ids = [question.id, ...(parentId === null ? [] : [parentId])];
  const { messages } = await reader.history({ ids, branches: true });
  // A prompt in front is on no branch.
  const said = messages.filter(({ parent }) => parent !== undefined);
  const shown = said.find(({ id }) => id === question.id) ?? said[0];
  if (shown?.state !== "superseded") return undefined;
  if (shown.id === question.id && shown.message.role !== "user") throw notAsked;
  const newest = await newestOf(reader);
  if (newest === undefined || !isSeen(newest, seen)) throw new Refusal(409, goneOn);
  return { id: shown.id, newest: newest.message };
}

/**
 * What stands behind the message that a new question follows, which it takes back. Nothing, if it follows the newest
 * message that its tab has seen: what others have said there meanwhile stays, and it comes behind that.
 */
export async function followingOf(
  reader: Reader,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<{ readonly first?: string | undefined; readonly newest?: UIMessage }> {
  if (parentId === undefined || parentId === seen) return {};
  const first = parentId === null ? await firstOf(reader) : await behind(reader, parentId);
  const newest = first === undefined ? undefined : await newestOf(reader);
  if (newest === undefined) return {};
  if (!isSeen(newest, seen)) throw new Refusal(409, goneOn);
  return { first, newest: newest.message };
}

/** The first message that follows none; a prompt in front stands apart. */
async function firstOf(reader: Reader): Promise<string | undefined> {
  for await (const { id, parent } of saidIn(reader, { states: standing, branches: true }))
    if (parent !== undefined) return id;
  return undefined;
}

/** What stands behind a message, if a question does: an answer that failed is not in the way of the next question. */
async function behind(reader: Reader, messageId: string): Promise<string | undefined> {
  const place = await placeOf(reader, messageId);
  return place === undefined || place.isLastQuestion ? undefined : place.behind;
}
