import { corruptError, type ListedMemory, type NormalListQuery } from "@turnkeep/core/store-kit";
import { type Head, headKey, headOf, isPresent, listedAs, listPartition, shards } from "./items.ts";
import type { Table } from "./table.ts";

/** The head of a memory that is there. */
export async function readHead(table: Table, memoryId: string): Promise<Head | undefined> {
  const entry = await table.get(headKey(memoryId));
  if (entry === undefined) return undefined;
  const head = headOf(entry.values);
  if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
  return isPresent(head) ? head : undefined;
}

/** The memories listed after a cursor: one more than requested, if there are that many. */
export async function readList(
  table: Table,
  { owner, after: position = "0/", limit }: NormalListQuery,
): Promise<ListedMemory[]> {
  const found: ListedMemory[] = [];
  // The shard and the sort key in it of the last memory of the previous page.
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < (owner === undefined ? shards : 1); shard++) {
    const query = { after, limit: limit + 1 - found.length };
    for await (const { entries } of table.query(listPartition(owner, shard), query)) {
      // A memory that began again after expiry has an entry per life, and a batch may name a key only once.
      const listed = entries.map(({ sort }) => ({ sort, ...listedAs(table, sort) }));
      const ids = new Set(listed.map(({ memory }) => memory.memoryId));
      const heads = await table.getAll([...ids].map(headKey));
      const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
      for (const { sort, token, memory } of listed) {
        const { memoryId, life } = memory;
        const head = byPartition.get(headKey(memoryId).partition);
        if (token !== "" || head?.life !== life || !isPresent(head)) continue;
        const { owner, updatedAt } = head;
        found.push({ memoryId, owner, updatedAt, position: `${shard}/${sort}` });
        if (found.length > limit) return found;
      }
    }
    after = undefined;
  }
  return found;
}
