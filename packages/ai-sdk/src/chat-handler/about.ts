import type { ChatMemory, JsonValue } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import type { UIMessage } from "ai";
import { checkExists } from "./places.ts";
import { Refusal } from "./refusal.ts";
import { titleIn } from "./title.ts";

type Memory = ChatMemory<UIMessage>;

/** What is said of a chat, in its memory's `data`. */
export interface AboutChat {
  readonly id: string;
  /** What the `title` of `chatHandler` said, or the user, or what else the application has put there (`memory.update`). */
  readonly title?: string;
  /** Whether the user has put it away. */
  readonly archived?: boolean;
}

/** What a user changes of it. */
export interface ChatChange {
  readonly title?: string;
  readonly archived?: boolean;
}

/** Errors: `NOT_FOUND`. */
export async function about(memory: Memory): Promise<AboutChat> {
  const data = await memory.data();
  if (data === undefined) await checkExists(memory);
  return aboutOf(memory.id, data);
}

export function aboutOf(id: string, data: JsonValue | undefined): AboutChat {
  const title = titleIn(data);
  const isArchived = isObject(data) && data.archived === true;
  return { id, ...(title !== undefined && { title }), ...(isArchived && { archived: true }) };
}

/** What else the application says of the chat stays. Errors: `NOT_FOUND`. */
export async function updateChat(memory: Memory, change: ChatChange): Promise<AboutChat> {
  await memory.update((before) => withChange(before ?? {}, change), { mustExist: true });
  return about(memory);
}

function withChange(before: JsonValue, change: ChatChange): JsonValue {
  if (isObject(before)) return { ...(before as Record<string, JsonValue>), ...change };
  throw new Refusal(409, "What is said of this chat is the application's own.");
}
