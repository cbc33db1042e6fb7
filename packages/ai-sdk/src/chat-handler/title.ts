import { type Anchor, type ChatMemory, equalContent, isTurnkeepError, type JsonValue } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import type { UIMessage } from "ai";

const mostCharacters = 200;

/** The title in what an application says of a chat. */
export function titleIn(data: JsonValue | undefined): string | undefined {
  return isObject(data) && typeof data.title === "string" ? data.title : undefined;
}

/**
 * Gives a chat a title if it has none; a blank one is none. What else the application says of it stays. Of a chat, or a question,
 * that was deleted no title is made.
 */
export async function giveTitle(
  memory: ChatMemory<UIMessage>,
  anchor: Anchor,
  titleOf: () => string | Promise<string>,
): Promise<void> {
  if (titleIn(await memory.data()) !== undefined) return;
  const now = await memory.anchor(anchor.messageId).catch(unlessGone);
  if (now === undefined || !equalContent(now, anchor)) return;
  const title = [...(await titleOf())].slice(0, mostCharacters).join("");
  if (title.trim() === "") return;
  await memory.update((before) => withTitle(before, title), { mustExist: anchor }).catch(unlessGone);
}

function unlessGone(error: unknown): undefined {
  if (!isTurnkeepError(error, "NOT_FOUND")) throw error;
}

function withTitle(before: JsonValue = {}, title: string): JsonValue {
  // Data of another shape is the application's own, and so is a title that somebody has given meanwhile.
  return isObject(before) && titleIn(before) === undefined
    ? { ...(before as Record<string, JsonValue>), title }
    : before;
}
