import { decodeCursor, type ListedMemory } from "@turnkeep/core/store-kit";
import {
  type Head,
  headKey,
  headOf,
  isPresent,
  listedIn,
  listPartition,
  partitionOf,
  shards,
  workOf,
  workPartition,
} from "./items.ts";
import { type Entry, inTurn, type Table } from "./table.ts";
import { abandon, endLife, expire, finish } from "./work.ts";

/** How many entries are read at a time, at least. */
const batch = 100;

/** A staged update that is older is not being written any more. */
const isLeftBehindAfterMs = 60 * 60 * 1000;

/** The memories that are listed behind a cursor: one more than asked for, if there are so many. */
export async function listed(
  table: Table,
  owner: string | undefined,
  cursor: string | undefined,
  limit: number,
): Promise<ListedMemory[]> {
  const found: ListedMemory[] = [];
  // The partition and the sort key of the last memory of the page before.
  const position = cursor === undefined ? "0/" : decodeCursor(cursor, /^[0-7]\/./s);
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < (owner === undefined ? shards : 1); shard++) {
    const query = { after, limit: Math.max(batch, limit + 1 - found.length) };
    for await (const { entries } of table.query(listPartition(owner, shard), query)) {
      const heads = await table.getAll(entries.map((entry) => headKey(listedIn(entry).memoryId)));
      const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
      for (const entry of entries) {
        const { memoryId, life } = listedIn(entry);
        const head = byPartition.get(partitionOf(memoryId));
        if (head?.life !== life || !isPresent(head)) continue;
        const { owner, updatedAt } = head;
        found.push({ memoryId, owner, updatedAt, position: `${shard}/${entry.sort}` });
        if (found.length > limit) return found;
      }
    }
    after = undefined;
  }
  return found;
}

/** Removes what interrupted updates and deletes left behind, and memories that have expired. Answers how many it met. */
export async function sweep(table: Table): Promise<number> {
  let removed = 0;
  for (let shard = 0; shard < shards; shard++) {
    for (const [partition, settle] of [
      [workPartition(shard), settleWork],
      [listPartition(undefined, shard), settleListed],
    ] as const) {
      for await (const { entries } of table.query(partition, { limit: batch })) {
        const settled = await inTurn(entries, (entry) => settle(table, entry));
        removed += settled.filter(Boolean).length;
      }
    }
  }
  return removed;
}

async function settleWork(table: Table, entry: Entry): Promise<boolean> {
  const work = workOf(entry);
  if (work.stage === "staging") {
    return work.updatedAt <= Date.now() - isLeftBehindAfterMs && abandon(table, work);
  }
  await finish(table, work);
  return true;
}

async function settleListed(table: Table, entry: Entry): Promise<boolean> {
  const memory = listedIn(entry);
  const key = headKey(memory.memoryId);
  const found = (await table.get(key))?.values;
  if (found?.life === memory.life) {
    return !isPresent(found as Pick<Head, "endsAt">) && endLife(table, memory, expire(table, memory));
  }
  // Its head went by the table's own expiry. A head that cannot be read is left to who can restore it.
  if (found !== undefined && headOf(found) === undefined) return false;
  const isGone = {
    expression: "attribute_not_exists(life) OR life <> :life",
    values: { ":life": memory.life },
  };
  return endLife(table, memory, table.check(key, isGone));
}
