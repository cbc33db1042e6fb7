/** What stands in the table: the keys of all items of a memory, and what the items say that are no head and no row. */
import { createHash } from "node:crypto";
import { invalidOption } from "@turnkeep/core/store-kit";
import { encodeLive, inItsRow, type MessageLine, type MessageRow } from "./records.ts";
import type { Attributes, Key, Page, QueryOptions, Table, TableItem } from "./table.ts";

/** The attributes of a head. */
export const headTexts = ["version", "live", "recent", "life"] as const;
export const headNumbers = ["nextSeq", "count", "updatedAt"] as const;
export const headOptional = [
  "owner",
  "head",
  "data",
  "dataCount",
  "fresh",
  "pending",
  "endsAt",
  "activeAt",
] as const;

/** The attributes of our items; the table's keys must have other names. */
export const ownAttributes: readonly string[] = [
  ...[...headTexts, ...headNumbers, ...headOptional],
  ...["rows", "parts", "token", "add", "drop", "stage", "prefixes"],
];

/** Those that an index may be on, with their types: all items that have them would be accepted. */
export const indexable: Readonly<Record<string, "S" | "N">> = {
  ...{ version: "S", owner: "S", life: "S", stage: "S" },
  ...{ nextSeq: "N", count: "N", updatedAt: "N", endsAt: "N", activeAt: "N", dataCount: "N", parts: "N" },
};

/** The number of partitions over which the listing of all memories is spread. */
export const shards = 8;

/** How much text an item may hold; DynamoDB limits an item to 400 KB. */
const partBytes = 380 * 1024;

/** How many seqs the marks of one item cover. */
const seqsPerMark = 1_000;

/** An item has 400 KB at most, and a prefix some 80 bytes. */
const prefixesAtOnce = 4_000;

/** What an update says about messages: that they are superseded, or no longer are. */
export type Marks = Readonly<Record<"add" | "drop", readonly number[]>>;

/** What an update must leave to a later step, or an interrupted update left behind. It stands in the listing. */
export interface WorkItem {
  /** Of the update; empty: of the whole life, whose entry in the listing it replaces. */
  readonly token: string;
  /**
   * `staging`: not committed, to be removed unless it gets committed; `applying`: committed, and its pending rows must
   * be put in their places; `ending`: to be removed.
   */
  readonly stage: "staging" | "applying" | "ending";
  /** Key prefixes in the memory's partition: everything that begins with one is to be removed. */
  readonly prefixes: readonly string[];
  readonly updatedAt: number;
}

const digitsOfSeq = 16;

/** All numbers have the same length as text, so keys sort like numbers. */
export function padded(value: number, digits: number = digitsOfSeq): string {
  return String(value).padStart(digits, "0");
}

function partitionOf(memoryId: string): string {
  return `memory:${memoryId}`;
}
export function headKey(memoryId: string): Key {
  return { partition: partitionOf(memoryId), sort: "head" };
}
/** The key of a row, by the sort key of the row, of a part of it, or of one that will take its place. */
export function numberOf(sort: string): number {
  return Number(sort.split("/")[2]);
}
/** The partition that lists an owner's memories, or a shard of everybody's. */
export function listPartition(owner: string | undefined, shard: number): string {
  return owner === undefined ? `all:${shard}` : `owner:${owner}`;
}
/** The partition that lists the same memories by their last activity. */
export function newestPartition(listed: string): string {
  return `newest:${listed}`;
}

/** What a head says about the places of its memory in listings. */
export interface Listed {
  readonly owner?: string | undefined;
  /** The last activity that was noted, in milliseconds since the epoch. */
  readonly activeAt?: number | undefined;
}

/** Whose item of a listing it is, by its sort key, and the token if it is a work item of an update. */
export function listedAs(table: Table, sort: string): { life: Life; token: string } {
  const [token = "", name = "", ...memoryId] = sort.split("/").reverse();
  return { life: new Life(table, memoryId.reverse().join("/"), name), token };
}

/** What an entry by activity says in its sort key. */
export function activityOf(table: Table, sort: string): { life: Life; activeAt: number } {
  const { life } = listedAs(table, sort.slice(digitsOfSeq + 1));
  return { life, activeAt: Number(sort.slice(0, digitsOfSeq)) };
}

export function workOf(token: string, values: Attributes): WorkItem {
  const { stage, updatedAt } = values as unknown as WorkItem;
  const prefixes = String(values.prefixes ?? "");
  return { token, stage, updatedAt, prefixes: prefixes === "" ? [] : prefixes.split(" ") };
}

/**
 * A memory from its beginning until it is deleted or expires: a life, whose name is never used twice. Its partition
 * holds the head and, with keys that begin with its name: `m`, rows of messages and their parts; an update's token,
 * rows that will take the place of such rows; `i`, where the messages with an id are or were; `s`, marks of superseded
 * messages; `d`, data that is too long for the head. Its items in listings are in other partitions.
 */
export class Life {
  readonly table: Table;
  readonly memoryId: string;
  readonly name: string;

  constructor(table: Table, memoryId: string, name: string) {
    this.table = table;
    this.memoryId = memoryId;
    this.name = name;
  }

  #key(rest: string): Key {
    return { partition: partitionOf(this.memoryId), sort: `${this.name}/${rest}` };
  }
  /** The prefix of all keys of the life. */
  get prefix(): string {
    return `${this.name}/`;
  }
  rowKey(key: number): Key {
    return this.#key(`m/${padded(key)}`);
  }
  /** The key of a part of a row; without a number, the prefix of all of them. */
  partKey(key: number, token: string, index?: number): Key {
    return this.#key(`m/${padded(key)}/${token}/${index === undefined ? "" : padded(index, 6)}`);
  }
  /** The key of a row that is not in its place yet; without a number, the prefix of all of them. */
  pendingKey(token: string, key?: number): Key {
    return this.#key(`${token}/${key === undefined ? "" : padded(key)}`);
  }
  /** Where messages with an id are or were; without a number, or an id, the prefix of all such keys. */
  idKey(id?: string, seq?: number): Key {
    return this.#key(id === undefined ? "i/" : `i/${id}/${seq === undefined ? "" : padded(seq)}`);
  }
  /** What an {@link idKey} says; `key` is the one without a number. */
  idOf(sort: string): { key: string; id: string; seq: number } {
    const key = sort.slice(0, -digitsOfSeq);
    const id = key.slice(this.idKey().sort.length, -1);
    return { key, id, seq: Number(sort.slice(-digitsOfSeq)) };
  }
  #markKey(mark: number, count?: number): Key {
    return this.#key(`s/${padded(mark)}/${count === undefined ? "" : padded(count)}`);
  }
  get dataKey(): Key {
    return this.#key("d");
  }
  /** Where the memory is listed among all or, with a token, the work item of an update. */
  listKey(token = ""): Key {
    const sort = `${this.memoryId}/${this.name}/${token}`;
    return { partition: listPartition(undefined, shardOf(this.memoryId)), sort };
  }

  /** The items of the partition, page by page. */
  query(options: QueryOptions): AsyncGenerator<Page> {
    return this.table.query(partitionOf(this.memoryId), options);
  }
  /** All items whose keys begin with `from`. */
  async all(from: string, options?: QueryOptions): Promise<TableItem[]> {
    const items: TableItem[] = [];
    for await (const page of this.query({ ...options, from })) items.push(...page.items);
    return items;
  }

  /** The items of a row: the row itself, and parts if it is too long. Parts count because the row names their token. */
  rowItems({ key, count, token }: Omit<MessageRow, "lines">, rows: string): [TableItem, ...TableItem[]] {
    if (token === undefined) return [{ ...this.rowKey(key), values: { count, rows } }];
    const parts = cut(rows).map((piece, index) => {
      return { ...this.partKey(key, token, index), values: { rows: piece } };
    });
    return [{ ...this.rowKey(key), values: { count, token, parts: parts.length } }, ...parts];
  }

  idItems(lines: readonly MessageLine[]): TableItem[] {
    return lines.map(({ id, seq }) => ({ ...this.idKey(id, seq), values: {} }));
  }

  /** In the listing of all memories, which names the owner, and in its owner's. */
  listItems({ owner }: Listed): [TableItem, ...TableItem[]] {
    const all = { ...this.listKey(), values: { owner } };
    return owner === undefined ? [all] : [all, { ...all, partition: listPartition(owner, 0) }];
  }
  /** In the same listings by activity, if any was noted. */
  newestItems(listed: Listed): TableItem[] {
    const { activeAt } = listed;
    if (activeAt === undefined) return [];
    return this.listItems(listed).map(({ partition, sort, values }) => {
      return { partition: newestPartition(partition), sort: `${padded(activeAt)}/${sort}`, values };
    });
  }

  workItem({ token, stage, prefixes, updatedAt }: WorkItem): TableItem {
    if (prefixes.length > prefixesAtOnce) {
      throw invalidOption(
        `The update writes or replaces ${prefixes.length} rows of more than 32 KB, and ${prefixesAtOnce} are possible: replace or remove fewer messages at a time`,
      );
    }
    return { ...this.listKey(token), values: { stage, prefixes: prefixes.join(" "), updatedAt } };
  }

  /** The marks of superseded messages by the update of that count, in one item per thousand seqs. */
  markItems(count: number, marks: Marks): TableItem[] {
    const numbers = new Set([...marks.add, ...marks.drop].map(markNumber));
    return [...numbers].map((mark) => {
      const within = (seqs: readonly number[]): string =>
        encodeLive(new Map(seqs.filter((seq) => markNumber(seq) === mark).map((seq) => [seq, inItsRow])));
      return { ...this.#markKey(mark, count), values: { add: within(marks.add), drop: within(marks.drop) } };
    });
  }
  /** The first and the last key that marks of these seqs, and of those between, may have. */
  markSpan(first: number, last: number): { from: string; to: string } {
    return { from: this.#markKey(markNumber(first)).sort, to: `${this.#markKey(markNumber(last)).sort}~` };
  }
}

function markNumber(seq: number): number {
  return Math.floor(seq / seqsPerMark);
}

/** A partition of the listing, by memory id, so that many concurrent beginnings do not hit the same one. */
function shardOf(memoryId: string): number {
  return (createHash("sha256").update(memoryId).digest()[0] as number) % shards;
}

/** Pieces of at most this many bytes, none ending within a character. */
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
