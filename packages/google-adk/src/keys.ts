import type { Event } from "@google/adk";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";

/** What ADK tells apps, users and sessions apart by. */
export interface Names {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * The id of the memory of a session; without a session, of what all sessions of a user share; without a user, of what all
 * users of an app share. Escaped, so that no two of them are one. It begins with the id of its owner.
 */
export function memoryId({ appName, userId, sessionId }: Names): string {
  const names = [appName, userId, sessionId].filter((name) => name !== undefined);
  return ["adk", ...names.map(escaped)].join("/");
}

/** What a memory is named by, if it is one of ADK's. */
export function namesOf(id: string): Names | undefined {
  const [prefix, appName, userId, sessionId, ...others] = id.split("/").map(unescaped);
  if (prefix !== "adk" || appName === undefined || others.length > 0) return undefined;
  return { appName, userId, sessionId };
}

function escaped(name: string): string {
  return name.replace(/[%/]/g, encodeURIComponent);
}

function unescaped(name: string): string {
  return name.replace(/%25|%2F/g, decodeURIComponent);
}

/** The memory, on behalf of its user. Errors: `INVALID_OPTION` for names of which no id can be made. */
export function memoryOf(memories: ChatMemories<Event>, names: Names): ChatMemory<Event> {
  return memories.get(memoryId(names), { owner: memoryId({ appName: names.appName, userId: names.userId }) });
}
