import type { StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  decodeCursor,
  type ListedMemory,
  type NormalListQuery,
} from "@turnkeep/core/store-kit";
import { type Head, headKey, headOf, isPresent, listedAs, listPartition, Memory, shards } from "./items.ts";
import { beyond, decodeLive, linesOf, messageOf } from "./records.ts";
import { readingOf, rowsWith } from "./rows.ts";
import type { Table } from "./table.ts";

/** The head of a memory that is there. */
export async function readHead(table: Table, memoryId: string): Promise<Head | undefined> {
  const entry = await table.get(headKey(memoryId));
  if (entry === undefined) return undefined;
  const head = headOf(entry.values);
  if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
  return isPresent(head) ? head : undefined;
}

/**
 * The live messages by seq; or the seq of one that is not where the head says, because an update happened in between or
 * is happening now.
 */
export async function readLive(
  table: Table,
  memoryId: string,
  head: Head,
): Promise<StoredMessage[] | number> {
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(memoryId, head.recent);
  const first = recent[0]?.seq ?? beyond;
  const older = [...live.keys()].filter((seq) => seq < first);
  const memory = new Memory(table, memoryId, head.life);
  const rows = older.length === 0 ? [] : await rowsWith(memory, older, live, await readingOf(memory, head));
  const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
  const messages: StoredMessage[] = [];
  for (const [seq, { edit }] of live) {
    const line = lines.get(seq);
    if (line?.edit !== edit) return seq;
    messages.push(messageOf(memoryId, line));
  }
  return messages;
}

/** The memories listed after a cursor: one more than requested, if there are that many. */
export async function readList(
  table: Table,
  { owner, cursor, limit }: NormalListQuery,
): Promise<ListedMemory[]> {
  const found: ListedMemory[] = [];
  // The shard and the sort key in it of the last memory of the previous page.
  const position = cursor === undefined ? "0/" : decodeCursor(cursor, /^[0-7]\/./s);
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < (owner === undefined ? shards : 1); shard++) {
    const query = { after, limit: limit + 1 - found.length };
    for await (const { entries } of table.query(listPartition(owner, shard), query)) {
      // A memory that began again after expiry has an entry per life, and a batch may name a key only once.
      const memories = entries.map(({ sort }) => listedAs(table, sort));
      const ids = new Set(memories.map(({ memoryId }) => memoryId));
      const heads = await table.getAll([...ids].map(headKey));
      const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
      for (const { memoryId, life } of memories) {
        const head = byPartition.get(headKey(memoryId).partition);
        if (head?.life !== life || !isPresent(head)) continue;
        const { owner, updatedAt } = head;
        found.push({ memoryId, owner, updatedAt, position: `${shard}/${memoryId}/${life}` });
        if (found.length > limit) return found;
      }
    }
    after = undefined;
  }
  return found;
}
