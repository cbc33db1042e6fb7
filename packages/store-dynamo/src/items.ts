import { createHash } from "node:crypto";
import { invalidOption } from "@turnkeep/core/store-kit";
import type { Item, Statement, Written } from "./client.ts";
import type { Row } from "./records.ts";

/** Where the items are and how the table calls their keys. */
export interface Table {
  readonly tableName: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  readonly ttlAttribute: string;
  readonly prefix: string;
}

/** The attributes of our items, which the table's keys must not be called like. */
export const ownAttributes: readonly string[] = [
  ...["version", "nextSeq", "owner", "head", "live", "recent", "life", "count", "updatedAt", "endsAt"],
  ...["pending", "rows", "parts", "token", "superseded", "memory", "stage", "prefixes"],
];

/** Over how many partitions the entries of all memories and the work items are spread. */
export const shards = 8;

/** What an item may hold of a text; it is limited to 400 KB. */
const partBytes = 380 * 1024;

/** How many seqs share one item of marks. */
const seqsPerBlock = 1_000;

/** An item has 400 KB at most, and a prefix some 80 bytes. */
const prefixesAtOnce = 4_000;

const stages = ["staging", "applying", "ending"] as const;

/** What an update must leave to a later step, or an interrupted one left behind. */
export interface Work {
  readonly memory: string;
  readonly life: string;
  readonly token: string;
  /**
   * `staging`: not committed, and to be removed unless it will be; `applying`: committed, and its pending rows are to be
   * put in their places; `ending`: to be removed.
   */
  readonly stage: (typeof stages)[number];
  /** Of the memory's partition: what begins so is to be removed. */
  readonly prefixes: readonly string[];
  readonly updatedAt: number;
}

export type Action = { readonly [kind in "Put" | "Update" | "Delete" | "ConditionCheck"]?: object };

/** What must hold of the item that is there. `#p` and `#c` stand for its partition key and its count. */
export interface Condition {
  readonly expression: string;
  readonly values?: Item;
}

export interface Page {
  readonly Items?: Item[];
  readonly LastEvaluatedKey?: Item;
}

export interface Span {
  readonly from: string;
  /** Included; absent: everything that begins with `from`. */
  readonly to?: string;
}

interface QueryOptions {
  readonly start?: Item | undefined;
  readonly limit?: number | undefined;
  readonly descending?: boolean;
  readonly keysOnly?: boolean;
}

/** Of the same text length for every number, so that the order of keys is the order of numbers. */
function padded(value: number, digits = 16): string {
  return String(value).padStart(digits, "0");
}

export function text(value: Item[string] | undefined): string | undefined {
  return value?.S;
}

export function number(value: Item[string] | undefined): number | undefined {
  return value?.N === undefined ? undefined : Number(value.N);
}

/**
 * The keys, and the operations of one step each. A memory is a partition: `head`; then, beginning with its life, `m` rows
 * of messages and their parts, an update's token its rows that are to take the place of such, `i` where the messages with
 * an id are or were, `s` which seqs are superseded.
 */
export class Items {
  readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  partition(memoryId: string): string {
    return `${this.table.prefix}memory:${memoryId}`;
  }
  key(partition: string, sort: string): Item {
    return { [this.table.partitionKey]: { S: partition }, [this.table.sortKey]: { S: sort } };
  }
  headKey(memoryId: string): Item {
    return this.key(this.partition(memoryId), "head");
  }
  rowSort(life: string, key: number): string {
    return `${life}/m/${padded(key)}`;
  }
  /** Of the rows of an update that are not in their places yet. */
  pendingPrefix(life: string, token: string): string {
    return `${life}/${token}/`;
  }
  rowKey(memoryId: string, life: string, key: number): Item {
    return this.key(this.partition(memoryId), this.rowSort(life, key));
  }
  /** Of a part, or without a number what all parts begin with. */
  partSort(rowSort: string, token: string, index?: number): string {
    return `${rowSort}/${token}/${index === undefined ? "" : padded(index, 6)}`;
  }
  idPrefix(life: string, id: string): string {
    return `${life}/i/${id}/`;
  }
  idKey(memoryId: string, life: string, id: string, seq: number): Item {
    return this.key(this.partition(memoryId), `${this.idPrefix(life, id)}${padded(seq)}`);
  }
  blockKey(memoryId: string, life: string, seq: number): Item {
    return this.key(this.partition(memoryId), `${life}/s/${padded(blockOf(seq))}`);
  }
  /** Whose entries the partition holds: an owner's, or a part of all. */
  listPartition(owner: string | undefined, shard: number): string {
    return `${this.table.prefix}${owner === undefined ? `all:${shard}` : `owner:${owner}`}`;
  }
  workPartition(shard: number): string {
    return `${this.table.prefix}work:${shard}`;
  }
  sortOf(item: Item): string {
    return text(item[this.table.sortKey]) ?? "";
  }
  /** Of a row, a part of one, or a pending one. */
  rowKeyOf(item: Item): number {
    return Number(this.sortOf(item).split("/")[2]);
  }
  keyOf(item: Item): Item {
    return this.key(text(item[this.table.partitionKey]) ?? "", this.sortOf(item));
  }

  /** The keys of a memory's entries: its owner's and that of all. Of one life, so that none is ever met by mistake. */
  entryKeys(memoryId: string, life: string, owner: string | undefined): Item[] {
    const sort = `${memoryId}/${life}`;
    const all = this.key(this.listPartition(undefined, shardOf(memoryId)), sort);
    return owner === undefined ? [all] : [all, this.key(this.listPartition(owner, 0), sort)];
  }
  /** The entry of all memories names the owner, whose own entry goes with it. */
  entries(memoryId: string, life: string, owner: string | undefined): Action[] {
    const named = owner === undefined ? {} : { owner: { S: owner } };
    return this.entryKeys(memoryId, life, owner).map((key) => this.put({ ...key, ...named }));
  }
  entryOf(item: Item): { memoryId: string; life: string; owner: string | undefined; sort: string } {
    const sort = this.sortOf(item);
    const end = sort.lastIndexOf("/");
    return { memoryId: sort.slice(0, end), life: sort.slice(end + 1), owner: text(item.owner), sort };
  }

  workKey({ memory, life, token }: Pick<Work, "memory" | "life" | "token">): Item {
    return this.key(this.workPartition(shardOf(memory)), `${memory}/${life}/${token}`);
  }
  workItem(work: Work): Item {
    const { memory, life, token, stage, prefixes, updatedAt } = work;
    if (prefixes.length > prefixesAtOnce) {
      throw invalidOption(
        `The update writes or replaces ${prefixes.length} rows of more than 32 KB, and ${prefixesAtOnce} are possible: replace or remove fewer messages at a time`,
      );
    }
    return {
      ...this.workKey(work),
      memory: { S: memory },
      life: { S: life },
      token: { S: token },
      stage: { S: stage },
      prefixes: { L: prefixes.map((S) => ({ S })) },
      updatedAt: { N: String(updatedAt) },
    };
  }
  workOf(item: Item): Work {
    return {
      memory: text(item.memory) ?? "",
      life: text(item.life) ?? "",
      token: text(item.token) ?? "",
      stage: stages.find((stage) => stage === text(item.stage)) ?? "ending",
      prefixes: (item.prefixes?.L ?? []).flatMap(({ S }) => S ?? []),
      updatedAt: number(item.updatedAt) ?? 0,
    };
  }

  /** The items of a row: itself, and what is too long for it in parts, which count because it names their token. */
  rowItems(key: Item, { count, token }: Pick<Row, "count" | "token">, rows: string): [Item, ...Item[]] {
    const row = { ...key, count: { N: String(count) } };
    if (token === undefined) return [{ ...row, rows: { S: rows } }];
    const parts = cut(rows).map((piece, index) => ({
      ...key,
      [this.table.sortKey]: { S: this.partSort(this.sortOf(key), token, index) },
      rows: { S: piece },
    }));
    return [{ ...row, token: { S: token }, parts: { N: String(parts.length) } }, ...parts];
  }

  /** Of a row as {@link rowItems} makes it, for where it waits until it is put in its place. */
  pendingItem(life: string, token: string, row: Item): Item {
    const sort = `${this.pendingPrefix(life, token)}${padded(this.rowKeyOf(row))}`;
    return { ...row, [this.table.sortKey]: { S: sort } };
  }
  /** Puts a pending row in its place, unless it or a later one has been there; without messages, removes it from there. */
  place(pending: Item): Action {
    const [life = ""] = this.sortOf(pending).split("/");
    const sort = { [this.table.sortKey]: { S: this.rowSort(life, this.rowKeyOf(pending)) } };
    const row = { ...pending, ...sort };
    const isOlder = { expression: "#c < :count", values: { ":count": row.count as Item[string] } };
    return text(row.rows) === "" ? this.delete(this.keyOf(row), isOlder) : this.put(row, isOlder);
  }
  /** From then on all rows of the update are in their places. */
  settle(memoryId: string, token: string): Action {
    const isPending = { expression: "pending = :token", values: { ":token": { S: token } } };
    const input = { ...this.#given(isPending), Key: this.headKey(memoryId) };
    return { Update: { ...input, UpdateExpression: "REMOVE pending" } };
  }

  get(key: Item): Statement<{ Item?: Item }> {
    return {
      operation: "GetItem",
      input: { TableName: this.table.tableName, Key: key, ConsistentRead: true },
    };
  }
  /** Up to 100 keys. */
  getAll(keys: readonly Item[]): Statement<{ Responses?: Record<string, Item[]> }> {
    const RequestItems = { [this.table.tableName]: { Keys: keys, ConsistentRead: true } };
    return { operation: "BatchGetItem", input: { RequestItems } };
  }
  /** The counts of up to 100 items, none of which a transaction is about to change. */
  counts(keys: readonly Item[]): Statement<{ Responses?: { Item?: Item }[] }> {
    const names = { ProjectionExpression: "#c", ExpressionAttributeNames: { "#c": "count" } };
    const TransactItems = keys.map((Key) => ({ Get: { TableName: this.table.tableName, Key, ...names } }));
    return { operation: "TransactGetItems", input: { TransactItems } };
  }
  /** Items of a partition: all, or those whose sort keys lie in a span. */
  query(partition: string, span: Span | undefined, options: QueryOptions = {}): Statement<Page> {
    const { partitionKey, sortKey, tableName } = this.table;
    const { start, limit, descending = false, keysOnly = false } = options;
    const within = span?.to === undefined ? " AND begins_with(#s, :a)" : " AND #s BETWEEN :a AND :b";
    return {
      operation: "Query",
      input: {
        TableName: tableName,
        ConsistentRead: true,
        ScanIndexForward: !descending,
        KeyConditionExpression: `#p = :p${span === undefined ? "" : within}`,
        ExpressionAttributeNames: { "#p": partitionKey, ...(keysOnly || span ? { "#s": sortKey } : {}) },
        ExpressionAttributeValues: {
          ":p": { S: partition },
          ...(span === undefined ? {} : { ":a": { S: span.from } }),
          ...(span?.to === undefined ? {} : { ":b": { S: span.to } }),
        },
        ...(keysOnly ? { ProjectionExpression: "#p, #s" } : {}),
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        ...(limit === undefined ? {} : { Limit: limit }),
      },
    };
  }
  /** Rows and their parts by their keys, both ends included. */
  rows(
    memoryId: string,
    life: string,
    { from, to }: { readonly from: number; readonly to: number },
    options?: QueryOptions,
  ): Statement<Page> {
    const span = { from: this.rowSort(life, from), to: `${this.rowSort(life, to)}/~` };
    return this.query(this.partition(memoryId), span, options);
  }
  pending(memoryId: string, life: string, token: string, start: Item | undefined): Statement<Page> {
    return this.query(this.partition(memoryId), { from: this.pendingPrefix(life, token) }, { start });
  }
  /** Up to 25 items, written or deleted without a condition; those that are there already are overwritten. */
  batch(puts: readonly Item[], deletes: readonly Item[]): Statement<object> {
    const requests = [
      ...puts.map((Item) => ({ PutRequest: { Item } })),
      ...deletes.map((Key) => ({ DeleteRequest: { Key } })),
    ];
    const RequestItems = { [this.table.tableName]: requests };
    return { operation: "BatchWriteItem", input: { RequestItems }, insists: true };
  }
  /** All or none. `token` makes the driver's own repetitions, and those of the network, one. */
  transact(actions: readonly Action[], token: string, insists = false): Statement<Written> {
    return {
      operation: "TransactWriteItems",
      input: { TransactItems: actions, ClientRequestToken: token },
      insists,
    };
  }
  /** One action alone, which costs half of what it costs in a transaction. */
  alone(action: Action, insists = false): Statement<Written> {
    const [entry] = Object.entries(action);
    const [kind, input] = entry as [string, Record<string, unknown>];
    const { ReturnValuesOnConditionCheckFailure: _, ...rest } = input;
    return { operation: `${kind}Item`, input: rest, insists };
  }

  put(item: Item, condition?: Condition): Action {
    return { Put: { ...this.#given(condition), Item: item } };
  }
  delete(key: Item, condition?: Condition): Action {
    return { Delete: { ...this.#given(condition), Key: key } };
  }
  check(key: Item, condition: Condition): Action {
    return { ConditionCheck: { ...this.#given(condition), Key: key } };
  }
  #given(condition: Condition | undefined): object {
    if (condition === undefined) return { TableName: this.table.tableName };
    const { expression, values } = condition;
    const names = Object.entries({ "#p": this.table.partitionKey, "#c": "count" });
    const used = names.filter(([alias]) => expression.includes(alias));
    return {
      TableName: this.table.tableName,
      ConditionExpression: expression,
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      ...(used.length === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(used) }),
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
    };
  }

  /**
   * Marks seqs as superseded (`add`) or as no longer so (`drop`): one action a block. `known` are those that are
   * superseded, needed where some of a block are added and others dropped.
   */
  markActions(
    memoryId: string,
    life: string,
    { add, drop }: Readonly<Record<"add" | "drop", readonly number[]>>,
    known: ReadonlySet<number>,
  ): Action[] {
    return [...new Set([...add, ...drop].map(blockOf))].map((block) => {
      const within = (list: Iterable<number>): number[] => [...list].filter((seq) => blockOf(seq) === block);
      const [added, dropped] = [within(add), within(drop)];
      const [verb, seqs] =
        dropped.length === 0
          ? ["ADD superseded", added]
          : added.length === 0
            ? ["DELETE superseded", dropped]
            : [
                "SET superseded =",
                [...new Set([...within(known), ...added])].filter((seq) => !dropped.includes(seq)),
              ];
      return {
        Update: {
          TableName: this.table.tableName,
          Key: this.blockKey(memoryId, life, block * seqsPerBlock),
          UpdateExpression: `${verb} :seqs`,
          ExpressionAttributeValues: { ":seqs": { NS: seqs.map((seq) => String(seq % seqsPerBlock)) } },
        },
      };
    });
  }
  /** The seqs that a block of marks names. */
  marksOf(item: Item): number[] {
    const block = Number(this.sortOf(item).split("/").at(-1));
    return (item.superseded?.NS ?? []).map((offset) => block * seqsPerBlock + Number(offset));
  }
}

function blockOf(seq: number): number {
  return Math.floor(seq / seqsPerBlock);
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
