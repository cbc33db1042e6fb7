import { quoted, TurnkeepError } from "../errors.ts";
import { formatOf } from "../format/codec.ts";
import { onlySets } from "../format/only-sets.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { freshError, type Item, readItem } from "../steps/item.ts";
import { isPrompt, isSetting } from "../steps/kinds.ts";
import { pushAll } from "../steps/push-all.ts";
import { planWindow } from "../window/plan.ts";
import type { Attempt, Reading } from "./attempt.ts";
import type { Draft, Prepared } from "./draft.ts";
import { evict } from "./evict.ts";
import type { Loaded } from "./loaded.ts";
import { findRecords } from "./stored-records.ts";

/**
 * Adds messages to a draft, lets the window evict, and returns their ids. The draft may stay unchanged. Messages added
 * for one view only (`forView`) get no time, because a view must not depend on a clock.
 */
export function addAll<M>(
  attempt: Attempt<M>,
  messages: readonly Prepared<M>[],
  { forView = false }: { readonly forView?: boolean } = {},
): string[] {
  const { draft, settings } = attempt;
  if (!forView) checkFormat(draft, settings);
  const isBound = settings.profile?.reasoning === "bound";
  const isLate = !forView && !isBound && isBehindCache(draft, messages, settings);
  const ids = messages.map((message) => addOne(attempt, message));
  // If a provider binds reasoning to its beginning, an eviction loses it, and the model needs it most while it works
  // with tools. So the window makes room earlier, when the user's message comes.
  const spoken = isBound ? messages.findLast(({ facts }) => facts.role !== "system") : undefined;
  const early = isLate || spoken?.facts.role === "user";
  if (draft.changed) evict(attempt, early);
  return ids;
}

/**
 * Neither format could read a memory with messages of both. Errors: `CORRUPT_RECORD` if the newest message was written
 * by another format. A message that is damaged in another way does not block the memory.
 */
export function checkFormat<M>({ live }: Draft<M>, { reader }: MemorySettings<M>): void {
  const newest = live.items.at(-1);
  if (newest?.error === undefined) return;
  const format = formatOf(newest.payload);
  if (format !== undefined && format !== reader.format.name) throw freshError(newest.error);
}

/** Whether the newest message is so old that the provider has dropped the prompt with it from its cache. */
function isBehindCache<M>(
  draft: Draft<M>,
  messages: readonly Prepared<M>[],
  settings: MemorySettings<M>,
): boolean {
  const { cacheTtlMs } = settings.window;
  const [first] = messages;
  const newest = draft.live.items.at(-1);
  if (cacheTtlMs === undefined || first === undefined || newest === undefined) return false;
  return first.createdAt - newest.createdAt > cacheTtlMs;
}

function addOne<M>(attempt: Attempt<M>, message: Prepared<M>): string {
  const { draft, settings, limits } = attempt;
  const { unit } = settings.window;
  const before = unit.evictsBeforeEach ? planWindow(draft.live, settings, limits).evict : [];
  if (message.facts.role !== "system") {
    draft.leave(before, "evicted");
    return draft.append(message).id;
  }
  const prompts = promptsOf(draft, settings, new Set(before));
  const [current] = prompts;
  if (current !== undefined && isEqual(current, message, settings)) return current.id;
  const isPositioned = message.instructs !== true && staysWhereSaid(attempt, message, current);
  draft.leave(before, "evicted");
  if (isPositioned) return draft.append(message, { positioned: true }).id;
  const replaced = unit.keepsSystems ? prompts.slice(0, 1) : prompts;
  if (message.instructs !== true)
    pushAll(
      draft.replacedPrompts,
      replaced.map(({ id }) => id),
    );
  draft.leave(replaced, "superseded");
  return draft.append(message, { front: settings.systemFirst }).id;
}

/** The system messages that stand for the whole conversation: in front, unless the memory leaves them where they are. */
function promptsOf<M>(
  { live: { items } }: Draft<M>,
  { systemFirst, window }: MemorySettings<M>,
  hidden: ReadonlySet<Item<M>>,
): Item<M>[] {
  const inFront = systemFirst && !window.unit.keepsSystems;
  const end = inFront ? items.findIndex((item) => !isPrompt(item)) : -1;
  return items.slice(0, end < 0 ? items.length : end).filter((item) => isPrompt(item) && !hidden.has(item));
}

/** A memory begins with its prompt. */
function staysWhereSaid<M>(
  { draft, settings }: Attempt<M>,
  message: Prepared<M>,
  prompt: Item<M> | undefined,
): boolean {
  if (onlySets(message.facts.message, settings.reader.format)) return true;
  if (settings.systemMessages === "one") return false;
  const isAside = (item: Item<M>): boolean => isSetting(item) || item.role === "system";
  return prompt !== undefined || draft.live.items.some((item) => !isAside(item));
}

export function isEqual<M>(item: Item<M>, message: Prepared<M>, settings: MemorySettings<M>): boolean {
  const { error, message: stored } = item.given ?? item;
  return error === undefined && settings.reader.format.equals(stored as M, message.facts.message);
}

/** Ids made here are new; only the caller's own can have been used before. */
export function mayBeRepeated<M>(messages: readonly Prepared<M>[]): boolean {
  return messages.some(({ ownId }) => ownId);
}

/**
 * Leaves out the messages whose id was added before with equal content, so that a retried request adds once.
 * Errors: `ID_CONFLICT` where the content differs.
 */
export async function withoutRepeated<M>(
  messages: readonly Prepared<M>[],
  reading: Reading<M>,
): Promise<Prepared<M>[]> {
  const { settings } = reading;
  if (!mayBeRepeated(messages)) return [...messages];
  const taken = await findIds(messages, reading);
  const fresh: Prepared<M>[] = [];
  const seen = new Map<string, Prepared<M>>();
  for (const message of messages) {
    const item = taken.get(message.id);
    const twin = seen.get(message.id);
    const repeated =
      (item !== undefined && isEqual(item, message, settings)) ||
      (twin !== undefined && settings.reader.format.equals(twin.facts.message, message.facts.message));
    if ((item !== undefined || twin !== undefined) && !repeated)
      throw idConflict(message.id, settings, "other content");
    if (!repeated) fresh.push(message);
    seen.set(message.id, message);
  }
  return fresh;
}

/** The messages that already have the caller's own ids, live or not. */
export async function findIds<M>(
  messages: readonly Prepared<M>[],
  reading: Reading<M>,
): Promise<Map<string, Item<M>>> {
  const { loaded, settings } = reading;
  const found = new Map<string, Item<M>>();
  const elsewhere = new Set<string>();
  for (const { id, ownId } of messages) {
    const item = loaded.live.byId.get(id);
    if (item !== undefined) found.set(id, item);
    else if (ownId) elsewhere.add(id);
  }
  if (isAllLive(loaded)) return found;
  for (const record of await findRecords([...elsewhere], reading))
    found.set(record.id, readItem(record, settings.reader));
  return found;
}

/** If as many messages are live as seqs were given out, none has left. */
export function isAllLive<M>({ live, nextSeq }: Loaded<M>): boolean {
  return live.items.length === nextSeq - 1;
}

export function idConflict<M>(id: string, settings: MemorySettings<M>, what: string): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Memory ${quoted(settings.memoryId)} already has a message ${quoted(id)} with ${what}. Use another id.`,
    { details: { memoryId: settings.memoryId, messageIds: [id] } },
  );
}
