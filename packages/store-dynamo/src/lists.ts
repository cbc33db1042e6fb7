/** Lists of memories, by owner or of everybody, from the items that stand in partitions of their own. */
import type { ListedMemory, NormalListQuery } from "@turnkeep/core/store-kit";
import { headOf, isPresent } from "./head.ts";
import { headKey, listedAs, listPartition, shards } from "./items.ts";
import type { Table, TableItem } from "./table.ts";

/** The shard of the last memory of the page before, and its sort key there. */
export const listPosition: RegExp = /^[0-7]\/./s;

/** The memories listed after a position: one more than requested, if there are that many. */
export async function readList(
  table: Table,
  { owner, after: position = "0/", limit }: NormalListQuery,
): Promise<ListedMemory[]> {
  const listed: ListedMemory[] = [];
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < (owner === undefined ? shards : 1); shard++) {
    const query = { after, limit: limit + 1 - listed.length };
    for await (const { items } of table.query(listPartition(owner, shard), query)) {
      listed.push(...(await present(table, shard, items)));
      if (listed.length > limit) return listed;
    }
    after = undefined;
  }
  return listed;
}

/** Those of a listing's items whose memories are there. */
async function present(table: Table, shard: number, items: readonly TableItem[]): Promise<ListedMemory[]> {
  // A memory that began again after expiry has an item per life, and a batch may name a key only once.
  const named = items.map(({ sort }) => ({ sort, ...listedAs(table, sort) }));
  const ids = new Set(named.map(({ life }) => life.memoryId));
  const heads = await table.getAll([...ids].map(headKey));
  const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
  return named.flatMap(({ sort, token, life: { memoryId, name } }) => {
    const head = byPartition.get(headKey(memoryId).partition);
    if (token !== "" || head?.life !== name || !isPresent(head)) return [];
    const { owner, updatedAt } = head;
    return [{ memoryId, owner, updatedAt, position: `${shard}/${sort}` }];
  });
}
