/** Lists of memories, by owner or of everybody, from the items that stand in partitions of their own. */
import type { ListedMemory, ListPositions, NormalListQuery } from "@turnkeep/core/store-kit";
import { headOf, isPresent } from "./head.ts";
import { byBytes } from "./ids.ts";
import { activityOf, headKey, type Life, listedAs, listPartition, newestPartition, shards } from "./items.ts";
import type { Page, Table, TableItem } from "./table.ts";

/** The shard of the last memory of the page before, and its sort key there. By activity, the sort key alone. */
export const listPositions: ListPositions = { stored: /^[0-7]\/./s, newest: /^\d{16}\/./s };

interface Entry {
  readonly life: Life;
  readonly position: string;
}

/** The memories listed after a position: one more than requested, if there are that many. */
export async function readList(table: Table, query: NormalListQuery): Promise<ListedMemory[]> {
  const { owner, order, limit } = query;
  const listed: ListedMemory[] = [];
  const met = new Set<string>();
  let entries: Entry[] = [];
  for await (const entry of order === "newest" ? newest(table, query) : stored(table, query)) {
    // A memory that moves to the front meanwhile is met twice.
    if (!met.has(entry.life.name)) entries.push(entry);
    met.add(entry.life.name);
    if (listed.length + entries.length <= limit) continue;
    listed.push(...(await present(table, owner, entries)));
    entries = [];
    if (listed.length > limit) return listed;
  }
  return [...listed, ...(await present(table, owner, entries))];
}

function shardsOf(owner: string | undefined): number {
  return owner === undefined ? shards : 1;
}

/** One shard after the other. */
async function* stored(
  table: Table,
  { owner, after: position = "0/", limit }: NormalListQuery,
): AsyncGenerator<Entry> {
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < shardsOf(owner); shard++) {
    const pages = table.query(listPartition(owner, shard), { after, limit: limit + 1 });
    for await (const { sort } of itemsOf(pages)) {
      const { life, token } = listedAs(table, sort);
      if (token === "") yield { life, position: `${shard}/${sort}` };
    }
    after = undefined;
  }
}

/** All shards at once, since each has a part of the newest. */
async function* newest(table: Table, { owner, after, limit }: NormalListQuery): AsyncGenerator<Entry> {
  const shardsAtOnce = Array.from({ length: shardsOf(owner) }, (_, shard) => {
    const partition = newestPartition(listPartition(owner, shard));
    return itemsOf(table.query(partition, { after, limit: limit + 1, descending: true }));
  });
  const fronts = await Promise.all(shardsAtOnce.map((items) => items.next()));
  for (;;) {
    const sorts = fronts.map(({ value }) => (value as TableItem | undefined)?.sort ?? "");
    const first = sorts.reduce((best, sort, at) => (byBytes(sort, sorts[best] ?? "") > 0 ? at : best), 0);
    const position = sorts[first];
    const shard = shardsAtOnce[first];
    if (!position || shard === undefined) return;
    yield { life: activityOf(table, position).life, position };
    fronts[first] = await shard.next();
  }
}

async function* itemsOf(pages: AsyncGenerator<Page>): AsyncGenerator<TableItem, undefined> {
  for await (const { items } of pages) yield* items;
}

/** How often heads are read whose data is not where they say, before it counts as lost. */
const readsOfOneHead = 3;

/** Those entries whose memories are there and still the owner's. */
async function present(
  table: Table,
  owner: string | undefined,
  entries: readonly Entry[],
  reads = 1,
): Promise<ListedMemory[]> {
  // A memory that began again after expiry has an item per life, and a batch may name a key only once.
  const ids = new Set(entries.map(({ life }) => life.memoryId));
  const heads = await table.getAll([...ids].map(headKey));
  const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
  const found = entries.flatMap(({ life, position }) => {
    const head = byPartition.get(headKey(life.memoryId).partition);
    if (head?.life !== life.name || !isPresent(head)) return [];
    return owner === undefined || head.owner === owner ? [{ life, head, position }] : [];
  });
  const beside = found.filter(({ head }) => head.dataCount !== undefined);
  const items = await table.getAll(beside.map(({ life }) => life.dataKey));
  const texts = new Map(items.map(({ partition, values }) => [partition, values.data as string]));
  // Other data came in between, which may stand in the head.
  const isTorn = beside.some(({ life }) => !texts.has(life.dataKey.partition));
  if (isTorn && reads < readsOfOneHead) return present(table, owner, entries, reads + 1);
  return found.map(({ life: { memoryId, dataKey }, head: { owner, updatedAt, data }, position }) => {
    return { memoryId, owner, updatedAt, data: data ?? texts.get(dataKey.partition), position };
  });
}
