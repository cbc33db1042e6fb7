import {
  type Head,
  headKey,
  headOf,
  isPresent,
  listedIn,
  listPartition,
  Memory,
  rowNumberOf,
  shards,
  type Work,
  workOf,
  workPartition,
} from "./items.ts";
import { type Action, type Condition, type Entry, inTurn, type Table } from "./table.ts";

/** A staged update that is older is not being written any more. */
const isLeftBehindAfterMs = 60 * 60 * 1000;

/** How many items a sweep reads at a time. */
const sweptAtOnce = 100;

/** Nobody has given it up. */
export const isStaging: Condition = { expression: "stage = :staging", values: { ":staging": "staging" } };

/** Removes what was staged and is not committed, and sees to it that it never will be. `false`: it is. */
async function abandon(table: Table, work: Work): Promise<boolean> {
  const ending = { ...work, stage: "ending" } as const;
  const entry = new Memory(table, work.memoryId, work.life).workEntry(ending);
  if ((await table.write([table.put(entry, isStaging)])) !== undefined) return false;
  await finish(table, ending);
  return true;
}

/** Removes what an update staged that was refused: also what it wrote after a sweep had given it up. */
export async function discard(memory: Memory, work: Work | undefined): Promise<void> {
  const { table, memoryId, life } = memory;
  if (work !== undefined) {
    const ending = { ...work, stage: "ending" } as const;
    await table.write([table.put(memory.workEntry(ending))]);
    await finish(table, ending);
  }
  // Entries of ids go with the memory, and these may have come too late for that.
  const head = await table.get(headKey(memoryId));
  if (head?.values.life !== life) await table.deleteAll(await memory.all(memory.prefix, { keysOnly: true }));
}

/** Does what a work item is about, removes what is left over, then the work item. By several at once, at any time. */
export async function finish(table: Table, work: Work): Promise<void> {
  const { memoryId, life, token, stage, prefixes } = work;
  const memory = new Memory(table, memoryId, life);
  if (stage === "applying") {
    const pending = await memory.all(memory.pendingKey(token).sort);
    await inTurn(pending, async (entry) => {
      // Unless this row or a later one has been there. One without messages is to be removed.
      const isOlder = { expression: "#c < :count", values: { ":count": entry.values.count } };
      const row = { ...memory.rowKey(rowNumberOf(entry.sort)), values: entry.values };
      await table.write(
        [row.values.rows === "" ? table.delete(row, isOlder) : table.put(row, isOlder)],
        true,
      );
    });
    const isPending = { expression: "pending = :token", values: { ":token": token } };
    await table.write([table.unset(headKey(memoryId), "pending", isPending)], true);
  }
  for (const prefix of prefixes) await table.deleteAll(await memory.all(prefix, { keysOnly: true }));
  await table.write([table.delete(memory.workKey(token))]);
}

/** Does what the update before has left to do. Nothing may be changed that it changes until then. */
export async function catchUp(memory: Memory, { pending }: Head): Promise<void> {
  if (pending === undefined) return;
  // By a plain read it might be seen as it was before the transaction that the head is from.
  const [values] = await memory.table.settled([memory.workKey(pending)]);
  if (values !== undefined) await finish(memory.table, workOf(values));
}

/**
 * Ends a life: from then on the memory is absent, and what it had goes. `false`: the action, which is about the head, was
 * refused.
 */
export async function endLife(memory: Memory, owner: string | undefined, action: Action): Promise<boolean> {
  const { table, memoryId, life } = memory;
  const about = { memoryId, life, token: "", prefixes: [memory.prefix] };
  const work: Work = { ...about, stage: "ending", updatedAt: Date.now() };
  const entries = memory.listEntries(owner).map((entry) => table.delete(entry));
  const actions = [action, ...entries, table.put(memory.workEntry(work))];
  if ((await table.write(actions, true)) !== undefined) return false;
  await finish(table, work);
  return true;
}

/** Removes what interrupted updates and deletes left behind, and memories that have expired. Answers how many it met. */
export async function sweep(table: Table): Promise<number> {
  let removed = 0;
  for (let shard = 0; shard < shards; shard++) {
    for (const [partition, settle] of [
      [workPartition(shard), settleWork],
      [listPartition(undefined, shard), settleListed],
    ] as const) {
      for await (const { entries } of table.query(partition, { limit: sweptAtOnce })) {
        const settled = await inTurn(entries, (entry) => settle(table, entry));
        removed += settled.filter(Boolean).length;
      }
    }
  }
  return removed;
}

async function settleWork(table: Table, entry: Entry): Promise<boolean> {
  const work = workOf(entry.values);
  if (work.stage === "staging") {
    return work.updatedAt <= Date.now() - isLeftBehindAfterMs && abandon(table, work);
  }
  await finish(table, work);
  return true;
}

async function settleListed(table: Table, entry: Entry): Promise<boolean> {
  const { memory, owner } = listedIn(table, entry);
  const key = headKey(memory.memoryId);
  const found = (await table.get(key))?.values;
  if (found?.life === memory.life) {
    const values = { ":life": memory.life, ":now": Date.now() };
    const isOver = { expression: "life = :life AND endsAt <= :now", values };
    return !isPresent(found as Pick<Head, "endsAt">) && endLife(memory, owner, table.delete(key, isOver));
  }
  // Its head went by the table's own expiry. A head that cannot be read is left to who can restore it.
  if (found !== undefined && headOf(found) === undefined) return false;
  const expression = "attribute_not_exists(life) OR life <> :life";
  return endLife(memory, owner, table.check(key, { expression, values: { ":life": memory.life } }));
}
