import { createHash } from "node:crypto";
import { invalidOption } from "@turnkeep/core/store-kit";
import { decodeLive, encodeLive, inItsRow } from "./records.ts";
import type { Action, Entry, Key, Table, Values } from "./table.ts";

/** The attributes of our items, which the table's keys must not be called like. */
export const ownAttributes: readonly string[] = [
  ...["version", "nextSeq", "owner", "head", "live", "recent", "life", "count", "updatedAt", "endsAt"],
  ...["pending", "rows", "parts", "token", "add", "drop", "memoryId", "stage", "prefixes"],
];

/** Over how many partitions the entries of all memories and the work items are spread. */
export const shards = 8;

/** What an item may hold of a text; it is limited to 400 KB. */
const partBytes = 380 * 1024;

/** How many seqs the marks of an item are about. */
const seqsPerMark = 1_000;

/** An item has 400 KB at most, and a prefix some 80 bytes. */
const prefixesAtOnce = 4_000;

/** A memory from its beginning until it is deleted or expires. The name of a life is never used twice. */
export interface Life {
  readonly memoryId: string;
  readonly life: string;
}

/** The head of a memory: everything of it but what stands in rows. */
export interface Head {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner?: string | undefined;
  readonly head?: string | undefined;
  /** Which messages are live, as `encodeLive` writes it. */
  readonly live: string;
  /** The newest messages, as `textOf` writes it: all that stand in no row, each newer than all in rows. */
  readonly recent: string;
  /** The token of the last update, if rows of it may not be in their places yet. */
  readonly pending?: string | undefined;
  readonly life: string;
  /** How many updates there were. */
  readonly count: number;
  readonly updatedAt: number;
  readonly endsAt?: number | undefined;
}

/** What an update must leave to a later step, or an interrupted one left behind. */
export interface Work extends Life {
  readonly token: string;
  /**
   * `staging`: not committed, and to be removed unless it will be; `applying`: committed, and its pending rows are to be
   * put in their places; `ending`: to be removed.
   */
  readonly stage: "staging" | "applying" | "ending";
  /** Of the memory's partition: what begins so is to be removed. */
  readonly prefixes: readonly string[];
  readonly updatedAt: number;
}

/** Of the same text length for every number, so that the order of keys is the order of numbers. */
function padded(value: number, digits = 16): string {
  return String(value).padStart(digits, "0");
}

/*
 * A memory is a partition: `head`; then, beginning with its life, `m` rows of messages and their parts, an update's token
 * its rows that are to take the place of such, `i` where the messages with an id are or were, `s` marks of what is
 * superseded. Beside it stand its entries in the listings, and work items.
 */

export function partitionOf(memoryId: string): string {
  return `memory:${memoryId}`;
}
export function headKey(memoryId: string): Key {
  return { partition: partitionOf(memoryId), sort: "head" };
}
function keyIn({ memoryId, life }: Life, rest: string): Key {
  return { partition: partitionOf(memoryId), sort: `${life}/${rest}` };
}
export function rowKey(of: Life, key: number): Key {
  return keyIn(of, `m/${padded(key)}`);
}
/** The key of a part of a row, or without a number what those of all begin with. */
export function partKey(of: Life, key: number, token: string, index?: number): Key {
  return keyIn(of, `m/${padded(key)}/${token}/${index === undefined ? "" : padded(index, 6)}`);
}
/** Of a row that is not in its place yet, or without a number what those of all begin with. */
export function pendingKey(of: Life, token: string, key?: number): Key {
  return keyIn(of, `${token}/${key === undefined ? "" : padded(key)}`);
}
/** Where messages with an id are or were, or without a number what all that say so begin with. */
export function idKey(of: Life, id: string, seq?: number): Key {
  return keyIn(of, `i/${id}/${seq === undefined ? "" : padded(seq)}`);
}
/** Of a row, a part of one, or a pending one. */
export function rowNumberOf({ sort }: Key): number {
  return Number(sort.split("/")[2]);
}
export function workPartition(shard: number): string {
  return `work:${shard}`;
}
/** Whose entries the partition holds: an owner's, or a part of all. */
export function listPartition(owner: string | undefined, shard: number): string {
  return owner === undefined ? `all:${shard}` : `owner:${owner}`;
}

/** `undefined` if it lacks a part. */
export function headOf(values: Values): Head | undefined {
  const texts = [values.version, values.live, values.recent, values.life];
  const numbers = [values.nextSeq, values.count, values.updatedAt];
  const isWhole =
    texts.every((value) => typeof value === "string") && numbers.every((value) => typeof value === "number");
  return isWhole ? (values as unknown as Head) : undefined;
}

export function isPresent({ endsAt }: Pick<Head, "endsAt">): boolean {
  return endsAt === undefined || endsAt > Date.now();
}

/** Puts a head in place of the one of a version, or where there is none. An item is replaced faster than it is changed. */
export function putHead(table: Table, memoryId: string, expected: string | null, head: Head): Action {
  const ttl = head.endsAt === undefined ? undefined : Math.ceil(head.endsAt / 1000);
  const entry = { ...headKey(memoryId), values: { ...head, [table.ttlAttribute]: ttl } };
  if (expected === null) return table.put(entry, { expression: "attribute_not_exists(#p)" });
  return table.put(entry, { expression: "version = :expected", values: { ":expected": expected } });
}

/** A memory's entries in the listings: of all, which names the owner, and of its owner. Of one life, so that none is ever met by mistake. */
export function listEntries(of: Life, owner: string | undefined): Entry[] {
  const sort = `${of.memoryId}/${of.life}`;
  const all = { partition: listPartition(undefined, shardOf(of.memoryId)), sort, values: { owner } };
  return owner === undefined ? [all] : [all, { ...all, partition: listPartition(owner, 0) }];
}
export function listedIn({ sort, values }: Entry): Life & { readonly owner: string | undefined } {
  const end = sort.lastIndexOf("/");
  const owner = values.owner as string | undefined;
  return { memoryId: sort.slice(0, end), life: sort.slice(end + 1), owner };
}

export function workKey({ memoryId, life, token }: Life & { readonly token: string }): Key {
  return { partition: workPartition(shardOf(memoryId)), sort: `${memoryId}/${life}/${token}` };
}
export function workEntry({ prefixes, ...work }: Work): Entry {
  if (prefixes.length > prefixesAtOnce) {
    throw invalidOption(
      `The update writes or replaces ${prefixes.length} rows of more than 32 KB, and ${prefixesAtOnce} are possible: replace or remove fewer messages at a time`,
    );
  }
  return { ...workKey(work), values: { ...work, prefixes: prefixes.join(" ") } };
}
export function workOf({ values }: Entry): Work {
  const prefixes = String(values.prefixes ?? "");
  return { ...(values as unknown as Work), prefixes: prefixes === "" ? [] : prefixes.split(" ") };
}

/** The items of a row: itself, and what is too long for it in parts, which count because it names their token. */
export function rowEntries(
  of: Life,
  { key, count, token }: { readonly key: number; readonly count: number; readonly token: string | undefined },
  rows: string,
): [Entry, ...Entry[]] {
  if (token === undefined) return [{ ...rowKey(of, key), values: { count, rows } }];
  const parts = cut(rows).map((piece, index) => ({
    ...partKey(of, key, token, index),
    values: { rows: piece },
  }));
  return [{ ...rowKey(of, key), values: { count, token, parts: parts.length } }, ...parts];
}

function markNumber(seq: number): number {
  return Math.floor(seq / seqsPerMark);
}
/** What an update of that count says of superseded messages, in one item for each thousand seqs that it concerns. */
export function markEntries(
  of: Life,
  count: number,
  marks: Readonly<Record<"add" | "drop", readonly number[]>>,
): Entry[] {
  const numbers = new Set([...marks.add, ...marks.drop].map(markNumber));
  return [...numbers].map((mark) => {
    const within = (seqs: readonly number[]): string =>
      encodeLive(new Map(seqs.filter((seq) => markNumber(seq) === mark).map((seq) => [seq, inItsRow])));
    const values = { add: within(marks.add), drop: within(marks.drop) };
    return { ...keyIn(of, `s/${padded(mark)}/${padded(count)}`), values };
  });
}
/** What the marks of these seqs, none of them live, say one after the other: which are superseded. */
export async function supersededOf(table: Table, of: Life, seqs: readonly number[]): Promise<Set<number>> {
  const superseded = new Set<number>();
  if (seqs.length === 0) return superseded;
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)].map(markNumber) as [number, number];
  const [from, to] = [keyIn(of, `s/${padded(first)}`).sort, keyIn(of, `s/${padded(last)}/~`).sort];
  for (const { values } of await table.all(partitionOf(of.memoryId), { from, to })) {
    for (const seq of decodeLive(of.memoryId, String(values.add)).keys()) superseded.add(seq);
    for (const seq of decodeLive(of.memoryId, String(values.drop)).keys()) superseded.delete(seq);
  }
  return superseded;
}

/** A partition of the listing, by the memory's id, so that many who begin at once do not meet in one. */
function shardOf(memoryId: string): number {
  return (createHash("sha256").update(memoryId).digest()[0] as number) % shards;
}

/** Pieces of so many bytes at most, none of which ends within a character. */
function cut(text: string): string[] {
  const bytes = Buffer.from(text);
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + partBytes, bytes.length);
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to--;
    pieces.push(bytes.toString("utf8", from, to));
    from = to;
  }
  return pieces;
}
