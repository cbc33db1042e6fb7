import { type ChatMemory, type HistoryMessage, isTurnkeepError } from "@turnkeep/core";
import type { UIMessage } from "ai";
import { leaseMs, settle } from "./answer.ts";
import { Refusal } from "./refusal.ts";

type Memory = ChatMemory<UIMessage>;

/** What stood in a message's place, in the order in which it was said. */
export interface MessageVersions {
  /** What `restoreVersion` of the transport takes. */
  readonly ids: readonly string[];
  /** Which of them is shown: an index. */
  readonly shown: number;
}

/** Those of the messages of a page that were edited or answered again, by the ids that the browser knows. */
export async function versionsIn(
  memory: Memory,
  page: readonly HistoryMessage<UIMessage>[],
): Promise<Record<string, MessageVersions>> {
  const byParent = new Map<number, HistoryMessage<UIMessage>[]>();
  for (const shown of page) if (shown.parent !== undefined) byParent.set(shown.parent, [shown]);
  if (byParent.size === 0) return {};
  // What a `set` put in the place of others follows something before what had left by then.
  const after = Math.min(...byParent.keys());
  for await (const { messages } of memory.historyPages({ states: ["superseded"], after, branches: true }))
    for (const other of messages) byParent.get(other.parent ?? -1)?.push(other);
  const versions: Record<string, MessageVersions> = {};
  for (const [shown, ...others] of byParent.values()) {
    if (shown === undefined || others.length === 0) continue;
    const ids = [shown, ...others].sort((a, b) => a.seq - b.seq).map(({ id }) => id);
    versions[shown.message.id] = { ids, shown: ids.indexOf(shown.id) };
  }
  return versions;
}

const noSuchVersion = new Refusal(404, "No such version.");

/**
 * Makes a version the conversation, with what followed it. The answer that is being made in its place ends; none does for
 * a version that there is not, or that is shown already.
 */
export async function restoreVersion(memory: Memory, id: string, signal: AbortSignal): Promise<void> {
  const { messages } = await memory.history({ ids: [id], branches: true });
  const [version] = messages;
  // A prompt in front is a version of nothing.
  if (version?.parent === undefined) throw noSuchVersion;
  if (version.state !== "superseded") return;
  await memory.requestStop();
  try {
    await memory.turn(
      async () => {
        await settle(memory);
        await memory.restore(id);
      },
      { leaseMs, mustExist: true, signal },
    );
  } catch (error) {
    if (!isTurnkeepError(error, "NOT_FOUND") && !isTurnkeepError(error, "INVALID_OPTION")) throw error;
    throw noSuchVersion;
  }
}
