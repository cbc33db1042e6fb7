import { type Anchor, type ChatMemory, equalContent, type JsonValue } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import type { UIMessage } from "ai";
import { isGone } from "./keeper.ts";

const mostCharacters = 200;

/** The title in what an application says of a chat. */
export function titleIn(data: JsonValue | undefined): string | undefined {
  return isObject(data) && typeof data.title === "string" ? data.title : undefined;
}

/**
 * Gives a chat a title if it has none; a blank one is none. What else the application says of it stays. Where the chat or the
 * question was deleted meanwhile, none is made.
 */
export async function giveTitle(
  memory: ChatMemory<UIMessage>,
  mustExist: Anchor,
  titleOf: () => string | Promise<string>,
): Promise<void> {
  const isWanted = await unlessGone(async () => {
    if (!isUntitled((await memory.data()) ?? null)) return false;
    return equalContent(await memory.anchor(mustExist.messageId), mustExist);
  });
  if (isWanted !== true) return;
  const title = [...(await titleOf())].slice(0, mostCharacters).join("");
  if (title.trim() === "") return;
  await unlessGone(() => memory.update((before = null) => withTitle(before, title), { mustExist }));
}

async function unlessGone<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!isGone(error)) throw error;
    return undefined;
  }
}

/** Data of another shape is the application's own, and so is a title that somebody has given. `null` says nothing. */
function isUntitled(data: JsonValue): boolean {
  return data === null || (isObject(data) && titleIn(data) === undefined);
}

function withTitle(before: JsonValue, title: string): JsonValue {
  return isUntitled(before) ? { ...(before as Record<string, JsonValue> | null), title } : before;
}
