import { isTurnkeepError, show, TurnkeepError } from "@turnkeep/core/store-kit";
import {
  type Head,
  headKey,
  headOf,
  isPresent,
  listedAs,
  listPartition,
  Memory,
  numberOf,
  shards,
  type Work,
  workOf,
} from "./items.ts";
import { storeName } from "./refusals.ts";
import { type Action, type Condition, type Entry, inTurn, type Table } from "./table.ts";

/** A staged update older than this is no longer being written. */
const isLeftBehindAfterMs = 60 * 60 * 1000;

/** How many items a sweep reads at a time. */
const sweptAtOnce = 100;

/** True while no sweep has given up the staged update. */
export const isStaging: Condition = { expression: "stage = :staging", values: { ":staging": "staging" } };

/** Records, with other actions, that a work item's target is to be removed, and removes it. `false`: refused. */
async function end(
  memory: Memory,
  work: Omit<Work, "stage">,
  others: readonly Action[],
  condition?: Condition,
): Promise<boolean> {
  const ending: Work = { ...work, stage: "ending" };
  const actions = [...others, memory.table.put(memory.workEntry(ending), condition)];
  if ((await memory.table.write(actions, true)) !== undefined) return false;
  await finish(memory, ending).catch((cause: unknown) => {
    if (isTurnkeepError(cause, "ABORTED")) throw cause;
    throw new TurnkeepError(
      "STORE_UNAVAILABLE",
      `${storeName}: what was removed of memory ${show(memory.memoryId)} no longer shows, but a part of it is still stored; see the cause. Repeat the call, or call sweep()`,
      { cause },
    );
  });
  return true;
}

/** Removes what a refused update staged, including anything written after a sweep gave it up. */
export async function discard(memory: Memory, work: Work | undefined): Promise<void> {
  const { table, memoryId, life } = memory;
  if (work !== undefined) await end(memory, work, []);
  // Entries of ids go with the memory, and these may have come too late for that.
  const head = await table.get(headKey(memoryId));
  if (head?.values.life !== life) await table.deleteAll(await memory.all(memory.prefix, { keysOnly: true }));
}

/** Does what a work item says, then removes it. Several processes may do so, at any time. */
export async function finish(memory: Memory, { token, stage, prefixes }: Work): Promise<void> {
  const { table, memoryId } = memory;
  if (stage === "applying") {
    const pending = await memory.all(memory.pendingKey(token).sort);
    await inTurn(pending, async (entry) => {
      // Replaces only an older row: this one, or a later one, may be there already. A row without messages is removed.
      const isOlder = { expression: "#c < :count", values: { ":count": entry.values.count } };
      const row = { ...memory.rowKey(numberOf(entry.sort)), values: entry.values };
      await table.write(
        [row.values.rows === "" ? table.delete(row, isOlder) : table.put(row, isOlder)],
        true,
      );
    });
    const isPending = { expression: "pending = :token", values: { ":token": token } };
    await table.write([table.unset(headKey(memoryId), "pending", isPending)], true);
  }
  await inTurn(prefixes, async (from) => table.deleteAll(await memory.all(from, { keysOnly: true })));
  await table.write([table.delete(memory.listKey(token))]);
}

/** Finishes what the last update left to do. Until then, nothing that it changes may be changed again. */
export async function catchUp(memory: Memory, { pending }: Head): Promise<void> {
  if (pending === undefined) return;
  // A plain read might see it as it was before the transaction that wrote the head.
  const [values] = await memory.table.settled([memory.listKey(pending)]);
  if (values !== undefined) await finish(memory, workOf(pending, values));
}

/**
 * Ends a life: from then on the memory is absent, and its data is removed. `false`: the action, which concerns the
 * head, was refused.
 */
export function endLife(memory: Memory, owner: string | undefined, action: Action): Promise<boolean> {
  const [, ...owned] = memory.listEntries(owner);
  const work = { token: "", prefixes: [memory.prefix], updatedAt: Date.now() };
  return end(memory, work, [action, ...owned.map((entry) => memory.table.delete(entry))]);
}

/** Removes what interrupted deletes, and expiry, left behind of a memory that is not there. */
export async function finishDeletes(table: Table, memoryId: string): Promise<void> {
  const { partition } = new Memory(table, memoryId, "").listKey();
  for await (const { entries } of table.query(partition, { from: `${memoryId}/` })) {
    // The key of another memory may begin so, too.
    const own = entries.filter(({ sort }) => listedAs(table, sort).memory.memoryId === memoryId);
    await inTurn(own, (entry) => settle(table, entry));
  }
}

/** Removes what interrupted updates and deletes left behind, and expired memories. Returns how many it found. */
export async function sweep(table: Table): Promise<number> {
  let removed = 0;
  for (let shard = 0; shard < shards; shard++) {
    for await (const { entries } of table.query(listPartition(undefined, shard), { limit: sweptAtOnce })) {
      const settled = await inTurn(entries, (entry) => settle(table, entry));
      removed += settled.filter(Boolean).length;
    }
  }
  return removed;
}

async function settle(table: Table, { sort, values }: Entry): Promise<boolean> {
  const { memory, token } = listedAs(table, sort);
  if (values.stage === undefined) return settleListed(memory, values.owner as string | undefined);
  const work = workOf(token, values);
  if (work.stage === "staging") {
    // Once given up, it can no longer be committed; unless it has been already.
    return work.updatedAt <= Date.now() - isLeftBehindAfterMs && end(memory, work, [], isStaging);
  }
  await finish(memory, work);
  return true;
}

async function settleListed(memory: Memory, owner: string | undefined): Promise<boolean> {
  const { table, life } = memory;
  const key = headKey(memory.memoryId);
  const found = (await table.get(key))?.values;
  if (found?.life === life) {
    const isOver = {
      expression: "life = :life AND endsAt <= :now",
      values: { ":life": life, ":now": Date.now() },
    };
    return !isPresent(found as Pick<Head, "endsAt">) && endLife(memory, owner, table.delete(key, isOver));
  }
  // The table's own expiry removed its head. A head that cannot be read is left, so that it can be restored.
  if (found !== undefined && headOf(found) === undefined) return false;
  const expression = "attribute_not_exists(life) OR life <> :life";
  return endLife(memory, owner, table.check(key, { expression, values: { ":life": life } }));
}
