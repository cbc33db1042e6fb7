import { type Item, readableMeta } from "../steps/item.ts";
import type { Reading } from "./attempt.ts";
import type { Draft } from "./draft.ts";
import { isWritten } from "./lease.ts";
import { statesNow } from "./stored-records.ts";
import type { MovedIds } from "./update-parts.ts";

/** What is compared of a message. */
type Evidence = Pick<Item<unknown>, "id" | "seq" | "createdAt" | "payload" | "meta">;

/**
 * Whether a change was made although somebody else has written since, told by what is stored at the seqs of the
 * messages that it added or replaced, by the life that it began, by what it said about the conversation, or, if it is of
 * the lease alone, by the lease. `undefined` if that cannot tell: one of them is gone again, or others have said something
 * since.
 */
export async function isMade<M>(draft: Draft<M>, reading: Reading<M>): Promise<boolean | undefined> {
  const now = reading.loaded;
  if (draft.begins) return now.life === draft.life;
  const { items: witnesses, isWhole } = draft.parts.witnesses();
  const last = witnesses.at(-1);
  // Never by the data: others who say the same have counted one more, or taken what only one may have.
  if (draft.saysAnew && now.said === draft.said) return true;
  if (draft.isOfLease) return now.life === draft.life && isWritten(draft.turn, now.turn);
  // No place is given up again.
  if (now.nextSeq < draft.nextSeq) return false;
  if (last === undefined && draft.saysAnew && draft.isSaidSince(now)) return undefined;
  // What takes away leaves nothing behind. What was added and is gone at once, in a memory without history, does not either.
  if (last === undefined) return draft.adds ? undefined : false;
  const found = await findAt(witnesses, reading);
  if (found === undefined) return undefined;
  // One id made here is proof enough. A message with the caller's own id may have been added by somebody else, even at
  // the same seq and in the same millisecond.
  const isThere = witnesses.every((item, index) => isSame(found[index], item, isWhole));
  // Of a message that was replaced once more nothing can be told, nor of what was said with it.
  const isReplacedAgain = !isThere && witnesses.every(({ id }, index) => found[index]?.id === id);
  return isReplacedAgain && draft.saysAnew && draft.isSaidSince(now) ? undefined : isThere;
}

/**
 * What has come true of a change whose answer was lost and that leaves nothing behind to know it by, as what is told of it.
 * Somebody else may have done the same.
 */
export async function cameTrue<M>(draft: Draft<M>, reading: Reading<M>): Promise<MovedIds> {
  const { parts } = draft;
  if (draft.begins || draft.saysAnew || draft.isOfLease || parts.witnesses().items.length > 0) return {};
  return parts.movedIds(await statesNow(parts.outcomes().values(), reading));
}

function isSame(found: Evidence | undefined, item: Evidence, isWhole: boolean): boolean {
  if (found?.id !== item.id) return false;
  const { createdAt, payload, meta } = item;
  return (
    !isWhole || (found.createdAt === createdAt && found.payload === payload && found.meta.by === meta.by)
  );
}

/** What is stored at the seqs of these messages, live or not; `undefined` if one of them is gone. */
async function findAt<M>(
  items: readonly Item<M>[],
  { loaded, settings: { memoryId, store }, call }: Reading<M>,
): Promise<readonly Evidence[] | undefined> {
  const bySeq = new Map<number, Evidence>(loaded.live.items.map((item) => [item.seq, item]));
  const [first, last] = [items[0], items.at(-1)];
  const isMissing = items.some(({ seq }) => !bySeq.has(seq));
  if (isMissing && first !== undefined && last !== undefined && store.capabilities.history) {
    const query = { after: first.seq - 1, before: last.seq + 1, limit: 1000 };
    const page = await store.getHistory(memoryId, query, { signal: call.signal });
    for (const message of page.messages)
      bySeq.set(message.seq, { ...message, meta: readableMeta(message.meta) });
  }
  const found = items.flatMap(({ seq }) => bySeq.get(seq) ?? []);
  return found.length === items.length ? found : undefined;
}
