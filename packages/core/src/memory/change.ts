import { quoted, TurnkeepError } from "../errors.ts";
import { onlySets } from "../format/only-sets.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { type Item, readItem } from "../steps/item.ts";
import { isPinned, type Step } from "../steps/step.ts";
import { eachWithInstructions } from "../window/groups.ts";
import { addAll, checkFormat, findIds, idConflict, isAllLive, isEqual } from "./add.ts";
import type { Attempt } from "./attempt.ts";
import type { Draft, Prepared } from "./draft.ts";
import { evict, leaveOverruled } from "./evict.ts";
import { findRecord } from "./stored-records.ts";
import { parentOf } from "./tree.ts";

/** What must be there for a message to be put in its place. */
interface PutRules<M> {
  readonly mustExist: boolean;
  readonly replaced: Prepared<M> | undefined;
}

/** Replaces the message with that id, in memory or in history, or adds it unless it must exist. */
export async function putMessage<M>(
  attempt: Attempt<M>,
  message: Prepared<M>,
  rules: PutRules<M>,
): Promise<void> {
  const { draft, settings } = attempt;
  const { mustExist, replaced } = rules;
  checkFormat(draft, settings);
  const live = draft.live.byId.get(message.id);
  const item = live ?? (await findEvicted(attempt, message.id));
  if (item === undefined) {
    if (mustExist || replaced !== undefined) throw missing(settings, message.id);
    addAll(attempt, [message]);
    return;
  }
  checkPut(item, message, rules, settings);
  if (isEqual(item, message, settings)) return;
  if (live === undefined) {
    draft.correct(item, message, replaced !== undefined);
    return;
  }
  draft.replace(live, message, replaced !== undefined);
  evict(attempt);
}

/** The message with that id that has left memory. Errors: `ID_CONFLICT` for one that was superseded. */
async function findEvicted<M>(attempt: Attempt<M>, id: string): Promise<Item<M> | undefined> {
  const { loaded, settings } = attempt;
  const record = isAllLive(loaded) ? undefined : await findRecord(id, attempt);
  if (record?.state === "superseded")
    throw idConflict(
      id,
      settings,
      "a place in history: it was superseded, and another version stands there now",
    );
  return record && readItem(record, settings.reader);
}

function checkPut<M>(
  item: Item<M>,
  message: Prepared<M>,
  { replaced }: PutRules<M>,
  settings: MemorySettings<M>,
): void {
  if (replaced !== undefined && !isEqual(item, replaced, settings)) {
    throw new TurnkeepError(
      "VERSION_CONFLICT",
      `Memory ${quoted(settings.memoryId)}, message ${quoted(message.id)}: it is not what it was to replace ` +
        "(replaces); somebody has put another in its place. Nothing was written. Read it again, then decide again.",
      { details: { memoryId: settings.memoryId, messageIds: [message.id] } },
    );
  }
  if ((item.role === "system") !== (message.facts.role === "system")) {
    throw new TurnkeepError(
      "INVALID_MESSAGE",
      `Message ${quoted(message.id)} has the role ${item.role}; put cannot make it ${message.facts.role}. ` +
        "Remove it and add the other.",
      { details: { memoryId: settings.memoryId, messageIds: [message.id] } },
    );
  }
  if (item.meta.derived !== undefined) checkReplacement(message, settings);
}

/** Replaces everything; what was there becomes superseded. */
export async function replaceAll<M>(
  attempt: Attempt<M>,
  messages: readonly Prepared<M>[],
): Promise<string[]> {
  const { draft, settings } = attempt;
  const taken = await findIds(messages, attempt);
  const seen = new Set(taken.keys());
  for (const { id } of messages) {
    if (seen.has(id)) throw idConflict(id, settings, "that id");
    seen.add(id);
  }
  const parent = parentOfFirst(attempt);
  draft.leave([...draft.live.items], "superseded");
  draft.raiseEpoch();
  if (parent !== undefined) draft.continueAfter(parent);
  // What a provider's compaction is given with stands beside it, and is no older conversation.
  const since = draft.nextSeq;
  const listed = messages.map((message) => (message.facts.boundary ? { ...message, since } : message));
  if (!settings.window.unit.keepsSystems) return addAll(attempt, listed);
  const { format } = settings.reader;
  const ids = listed.map((message) => {
    const { role, message: said } = message.facts;
    return draft.append(message, { positioned: role === "system" && onlySets(said, format) }).id;
  });
  evict(attempt);
  return ids;
}

/** What the first of the live messages follows: what is put in the place of all of them follows the same. */
function parentOfFirst<M>({ draft, loaded, settings }: Attempt<M>): number | undefined {
  const { items } = draft.live;
  const said = items.filter((item) => item.meta.derived === undefined && !settings.isFront(item));
  const [first] = said.sort((a, b) => a.seq - b.seq);
  return first === undefined ? undefined : parentOf(first, loaded.lost);
}

/** Puts a derived message in place of everything up to `through`. */
export async function compactThrough<M>(
  attempt: Attempt<M>,
  through: string,
  replacement: Prepared<M>,
): Promise<string> {
  const { draft, settings } = attempt;
  checkFormat(draft, settings);
  const last = await findThrough(attempt, through);
  const derived = draft.live.items.filter((item) => item.meta.derived !== undefined);
  if (derived.some((item) => (item.meta.derived?.through ?? 0) > last.seq)) {
    throw new TurnkeepError(
      "VERSION_CONFLICT",
      `Message ${quoted(through)} is already covered by a derived message that reaches further. ` +
        "Call messages() to see the new state, then decide again.",
      { details: { memoryId: settings.memoryId, messageIds: [through] } },
    );
  }
  const isCovered = (group: readonly Step<M>[]): boolean =>
    firstOf(group.at(-1)) <= last.seq && !group.some(isPinned);
  const covered = [...eachWithInstructions(draft.live.steps)]
    .filter(isCovered)
    .flatMap((group) => group.flatMap(({ items }) => items));
  const item = putInPlace(draft, { derived, covered, through: last.seq }, replacement);
  evict(attempt);
  return item.id;
}

function firstOf<M>(step: Step<M> | undefined): number {
  return step?.items[0]?.seq ?? Number.POSITIVE_INFINITY;
}

/** What a derived message stands for. */
export interface Covered<M> {
  /** The derived messages that it replaces. */
  readonly derived: readonly Item<M>[];
  readonly covered: readonly Item<M>[];
  /** The last `seq` that it stands for. */
  readonly through: number;
}

/** Puts a derived message in place of live ones: after the system message, in one change. */
export function putInPlace<M>(
  draft: Draft<M>,
  { derived, covered, through }: Covered<M>,
  replacement: Prepared<M>,
): Item<M> {
  draft.leave(derived, "removed");
  draft.leave(covered, "evicted");
  const item = draft.append(replacement, { derived: { through } });
  leaveOverruled(draft);
  return item;
}

/** Errors: `INVALID_MESSAGE` for a message that cannot stand in place of others. */
export function checkReplacement<M>({ facts }: Prepared<M>, settings: MemorySettings<M>): void {
  const { role, calls, results, approvals } = facts;
  const allowed: readonly string[] = settings.window.unit.replacementRoles;
  if (allowed.includes(role) && calls.length + results.length + approvals.length === 0) return;
  throw new TurnkeepError(
    "INVALID_MESSAGE",
    `The replacement must be a message of role ${allowed.join(" or ")}, without tool calls, ` +
      `results or approvals; this one has the role ${role}.`,
  );
}

async function findThrough<M>(attempt: Attempt<M>, through: string): Promise<{ readonly seq: number }> {
  const { draft, settings } = attempt;
  const live = draft.live.byId.get(through);
  if (live !== undefined && live.role !== "system" && live.meta.derived === undefined) return live;
  const evicted = await findRecord(through, attempt, ["evicted"]);
  if (evicted !== undefined) return evicted;
  if (live === undefined) throw notFound(through, settings, "There is no such message in memory");
  throw new TurnkeepError(
    "INVALID_OPTION",
    `Memory ${quoted(settings.memoryId)}, message ${quoted(through)}: compact cannot end at a system message or ` +
      "at a derived message. Name another one.",
    { details: { memoryId: settings.memoryId, messageIds: [through] } },
  );
}

/** What must exist for a change: the memory, or that message of it. */
export function missing<M>({ memoryId }: MemorySettings<M>, messageId?: string): TurnkeepError {
  const what =
    messageId === undefined
      ? " is not there, or not the one any more that was there: it was deleted, has expired, or never was"
      : `, message ${quoted(messageId)}, is not there: it was removed, taken back or replaced, or never was`;
  return new TurnkeepError(
    "NOT_FOUND",
    `Memory ${quoted(memoryId)}${what}. Nothing was written. Tell the user that it is gone, or ask again.`,
    { details: { memoryId, messageIds: messageId === undefined ? undefined : [messageId] } },
  );
}

export function notFound<M>(messageId: string, settings: MemorySettings<M>, what: string): TurnkeepError {
  return new TurnkeepError(
    "NOT_FOUND",
    `Memory ${quoted(settings.memoryId)}, message ${quoted(messageId)}: ${what}. ` +
      "history() lists the ids and states of all messages.",
    { details: { memoryId: settings.memoryId, messageIds: [messageId] } },
  );
}
