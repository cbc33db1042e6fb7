import {
  type Event,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
  createSession as sessionOf,
} from "@google/adk";
import type { ChatMemories } from "@turnkeep/core";
import { memoryId, namesOf } from "./keys.ts";
import { updateTimeOf } from "./update-time.ts";

/** All sessions of a user, or of an app, without events and states. Those of an app are looked for among all memories. */
export async function sessionsOf(
  memories: ChatMemories<Event>,
  { appName, userId, order }: ListSessionsRequest,
): Promise<Session[]> {
  const owned = userId === undefined ? {} : { owner: memoryId({ appName, userId }) };
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await memories.list({ ...owned, limit: 1000, cursor });
    for (const { memoryId: id, data, updatedAt } of page.memories) {
      const names = namesOf(id);
      if (names?.appName !== appName || names.sessionId === undefined) continue;
      // A memory that was given to this user is no session of theirs: its names are another's.
      if (userId !== undefined && names.userId !== userId) continue;
      const lastUpdateTime = updateTimeOf(data) ?? updatedAt;
      sessions.push(sessionOf({ id: names.sessionId, appName, userId: names.userId ?? "", lastUpdateTime }));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (order === undefined) return sessions;
  const sign = order === "asc" ? 1 : -1;
  return sessions.sort((a, b) => sign * (a.lastUpdateTime - b.lastUpdateTime) || a.id.localeCompare(b.id));
}

/** The part that was asked for, counted as ADK's own services count. */
export function pageOf(
  sessions: Session[],
  { limit, offset = 0, page }: ListSessionsRequest,
): ListSessionsResponse {
  const totalItems = sessions.length;
  if (limit === undefined) {
    const totalPages = Math.min(totalItems, 1);
    return { sessions: sessions.slice(offset), page: 1, limit: totalItems, totalItems, totalPages };
  }
  const first = page === undefined ? offset : (page - 1) * limit;
  return {
    sessions: sessions.slice(first, first + limit),
    page: page ?? (limit === 0 ? 1 : Math.floor(first / limit) + 1),
    limit,
    totalItems,
    totalPages: limit === 0 ? 0 : Math.ceil(totalItems / limit),
  };
}
