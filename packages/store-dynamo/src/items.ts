import { createHash } from "node:crypto";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { utf8Length } from "@turnkeep/core/store-kit";
import type { Item, Statement, Written } from "./client.ts";

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
  ...["version", "nextSeq", "owner", "head", "live", "life", "count", "updatedAt", "endsAt"],
  ...[
    "id",
    "createdAt",
    "payload",
    "meta",
    "edit",
    "parts",
    "superseded",
    "memory",
    "token",
    "stage",
    "rows",
  ],
];

/** Over how many partitions the entries of all memories and the staged updates are spread. */
export const shards = 8;

/** What an item may hold of a message; a longer one is stored in parts. An item is limited to 400 KB. */
export const partBytes: number = 380 * 1024;

/** The end of a token whose update has messages in parts. */
export const largeSign = ".";

/** How many seqs share one item of marks. */
const seqsPerBlock = 1_000;

/** Where a live message stands: under a staged update's token or none, changed there by the update of that count. */
export interface Place {
  readonly token: string;
  readonly edit: number;
}

export type Live = ReadonlyMap<number, Place>;

/** The head of a memory: everything of it but its messages. */
export interface Head {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner: string | undefined;
  readonly head: string | undefined;
  /** Which messages are live, as {@link encodeLive} writes it. */
  readonly live: string;
  /** Names everything that belongs to the memory until it is deleted or expires; never used twice. */
  readonly life: string;
  /** How many updates there were. */
  readonly count: number;
  readonly updatedAt: number;
  readonly endsAt: number | undefined;
}

/** A message as it stands in the partition, its parts put together. */
export interface Row extends StoredMessage, Place {
  readonly parts: number;
}

/** What the next update is computed from. */
export type Base = Pick<Head, "version" | "nextSeq" | "live" | "life" | "count">;

/** What an update must leave to a later step, or an interrupted one left behind. */
export interface Work {
  readonly memory: string;
  readonly life: string;
  readonly token: string;
  /** `staging`: not committed; `dead`: never will be; `settle`: committed; `ended`: the whole life is over. */
  readonly stage: "staging" | "dead" | "settle" | "ended";
  /** The rows that are to go, unless the update is committed: as {@link encodeLive} writes it. */
  readonly rows: string;
  readonly updatedAt: number;
}

export type Action = { readonly [kind in "Put" | "Update" | "Delete" | "ConditionCheck"]?: object };

export interface Page {
  readonly Items?: Item[];
  readonly LastEvaluatedKey?: Item;
}

/** As runs: `1 5-9 12@0#7`, where `@0` is the first of the tokens in front of `|` and `#7` the count of an edit. */
export function encodeLive(live: Live): string {
  const tokens: string[] = [];
  const runs: string[] = [];
  let [from, to, tail] = [0, -1, ""];
  const close = (): void => {
    if (from > 0) runs.push(`${from}${to > from ? `-${to}` : ""}${tail}`);
  };
  for (const [seq, { token, edit }] of [...live].sort(([a], [b]) => a - b)) {
    if (token !== "" && !tokens.includes(token)) tokens.push(token);
    const own = `${token === "" ? "" : `@${tokens.indexOf(token)}`}${edit === 0 ? "" : `#${edit}`}`;
    if (seq !== to + 1 || own !== tail) {
      close();
      [from, tail] = [seq, own];
    }
    to = seq;
  }
  close();
  return `${tokens.join(" ")}|${runs.join(" ")}`;
}

/** `undefined` if the text is none of {@link encodeLive}. */
export function decodeLive(text: string): Map<number, Place> | undefined {
  const live = new Map<number, Place>();
  const [first, second, ...more] = text.split("|");
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  const tokens = first.split(" ");
  for (const run of second === "" ? [] : second.split(" ")) {
    const match = /^(\d+)(?:-(\d+))?(?:@(\d+))?(?:#(\d+))?$/.exec(run);
    const token = match?.[3] === undefined ? "" : tokens[Number(match[3])];
    const [from, to] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (match === null || token === undefined || !Number.isSafeInteger(to) || to - from > 1e7)
      return undefined;
    const place = { token, edit: Number(match[4] ?? 0) };
    for (let seq = from; seq <= to; seq++) live.set(seq, place);
  }
  return live;
}

/** Runs of seqs that follow one another. */
export function runsOf(seqs: Iterable<number>): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.to === seq - 1) last.to = seq;
    else if (last?.to !== seq) runs.push({ from: seq, to: seq });
  }
  return runs;
}

/** Of the same text length for every seq, so that the order of keys is the order of seqs. */
function padded(value: number): string {
  return String(value).padStart(16, "0");
}

export function text(value: Item[string] | undefined): string | undefined {
  return value?.S;
}

export function number(value: Item[string] | undefined): number | undefined {
  return value?.N === undefined ? undefined : Number(value.N);
}

/** The size of a message as the database counts it, about. */
export function bytesOf({ id, payload, meta }: StoredMessage): number {
  return utf8Length(payload) + utf8Length(meta ?? "") + 2 * utf8Length(id) + 256;
}

/**
 * The keys, and the operations of one step each. A memory is a partition: `head`; then, beginning with its life, `m`
 * messages and their parts, `i` message ids, `s` which seqs were superseded, and `t` the staged updates that count.
 */
export class Items {
  readonly table: Table;
  readonly #ttlMs: number | undefined;

  constructor(table: Table, ttlMs: number | undefined) {
    this.table = table;
    this.#ttlMs = ttlMs;
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
  rowKey(memoryId: string, life: string, seq: number, token: string): Item {
    return this.key(this.partition(memoryId), `${life}/m/${padded(seq)}/${token}`);
  }
  idKey(memoryId: string, life: string, id: string, seq: number, token: string): Item {
    return this.key(this.partition(memoryId), `${this.idPrefix(life, id)}${padded(seq)}/${token}`);
  }
  idPrefix(life: string, id: string): string {
    return `${life}/i/${id}/`;
  }
  markerKey(memoryId: string, life: string, token: string): Item {
    return this.key(this.partition(memoryId), `${life}/t/${token}`);
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
  /** Of a row or a part of one. */
  seqOf(item: Item): number {
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
  workItem(work: Work): Item {
    const { memory, life, token, stage, rows, updatedAt } = work;
    return {
      ...this.workKey(work),
      memory: { S: memory },
      life: { S: life },
      token: { S: token },
      stage: { S: stage },
      rows: { S: rows },
      updatedAt: { N: String(updatedAt) },
    };
  }
  workOf(item: Item): Work {
    return {
      memory: text(item.memory) ?? "",
      life: text(item.life) ?? "",
      token: text(item.token) ?? "",
      stage: (text(item.stage) ?? "") as Work["stage"],
      rows: text(item.rows) ?? "",
      updatedAt: number(item.updatedAt) ?? 0,
    };
  }
  workKey({ memory, life, token }: Pick<Work, "memory" | "life" | "token">): Item {
    return this.key(this.workPartition(shardOf(memory)), `${memory}/${life}/${token}`);
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
  /** Items of a partition whose sort keys lie between two, both included, or begin with a text; all without these. */
  query(
    partition: string,
    range: { from: string; to?: string } | undefined,
    options: { start?: Item | undefined; limit?: number; descending?: boolean; keysOnly?: boolean } = {},
  ): Statement<Page> {
    const { partitionKey, sortKey, tableName } = this.table;
    const { start, limit, descending = false, keysOnly = false } = options;
    const within =
      range === undefined
        ? ""
        : range.to === undefined
          ? " AND begins_with(#s, :a)"
          : " AND #s BETWEEN :a AND :b";
    return {
      operation: "Query",
      input: {
        TableName: tableName,
        ConsistentRead: true,
        ScanIndexForward: !descending,
        KeyConditionExpression: `#p = :p${within}`,
        ExpressionAttributeNames: {
          "#p": partitionKey,
          ...(keysOnly || range !== undefined ? { "#s": sortKey } : {}),
          ...(keysOnly ? { "#i": "id" } : {}),
        },
        ExpressionAttributeValues: {
          ":p": { S: partition },
          ...(range === undefined ? {} : { ":a": { S: range.from } }),
          ...(range?.to === undefined ? {} : { ":b": { S: range.to } }),
        },
        ...(keysOnly ? { ProjectionExpression: "#p, #s, #i" } : {}),
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        ...(limit === undefined ? {} : { Limit: limit }),
      },
    };
  }
  /** Rows and their parts. Both ends included. */
  rows(
    memoryId: string,
    life: string,
    { from, to }: { from: number; to: number },
    options?: Parameters<Items["query"]>[2],
  ): Statement<Page> {
    const range = { from: `${life}/m/${padded(from)}/`, to: `${life}/m/${padded(to)}/~` };
    return this.query(this.partition(memoryId), range, options);
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
  alone(action: Action): Statement<Written> {
    const [entry] = Object.entries(action);
    const [kind, input] = entry as [string, Record<string, unknown>];
    const { ReturnValuesOnConditionCheckFailure: _, ...rest } = input;
    return { operation: `${kind}Item`, input: rest };
  }

  /** With the commit of a staged update its work is done, unless there are rows that are to go. */
  commitWork(work: Work, garbage: string): Action {
    const values = { ":staging": { S: "staging" } };
    return garbage === "|"
      ? this.delete(this.workKey(work), "stage = :staging", values)
      : this.put(this.workItem({ ...work, stage: "settle", rows: garbage }), "stage = :staging", values);
  }
  put(item: Item, condition?: string, values?: Item): Action {
    return { Put: { ...this.#condition(condition, values), Item: item } };
  }
  delete(key: Item, condition?: string, values?: Item): Action {
    return { Delete: { ...this.#condition(condition, values), Key: key } };
  }
  check(key: Item, condition: string, values: Item): Action {
    return { ConditionCheck: { ...this.#condition(condition, values), Key: key } };
  }
  #condition(condition: string | undefined, values: Item | undefined): object {
    return {
      TableName: this.table.tableName,
      ...(condition === undefined
        ? {}
        : { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
      ...(condition === undefined || !condition.includes("#p")
        ? {}
        : { ExpressionAttributeNames: { "#p": this.table.partitionKey } }),
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
    };
  }

  /** The head that an update leaves: begun where there is none, else changed where its version is the expected one. */
  writeHead(memoryId: string, change: MemoryUpdate, life: string, live: string, count: number): Action {
    const now = Date.now();
    const set: Item = {
      version: { S: change.version },
      nextSeq: { N: String(change.nextSeq) },
      live: { S: live },
      count: { N: String(count) },
      updatedAt: { N: String(now) },
      ...(change.head === undefined ? {} : { head: { S: change.head } }),
      ...(this.#ttlMs === undefined
        ? {}
        : {
            endsAt: { N: String(now + this.#ttlMs) },
            [this.table.ttlAttribute]: { N: String(Math.ceil((now + this.#ttlMs) / 1000)) },
          }),
    };
    if (change.expected === null) {
      const owner = change.owner === undefined ? {} : { owner: { S: change.owner } };
      const item = { ...this.headKey(memoryId), ...set, ...owner, life: { S: life } };
      return this.put(item, "attribute_not_exists(#p)");
    }
    const names = [...Object.keys(set), "endsAt", this.table.ttlAttribute];
    const values = Object.fromEntries(Object.values(set).map((value, index) => [`:${index}`, value]));
    const places = Object.keys(set).map((_, index) => `#${index} = :${index}`);
    const forget = this.#ttlMs === undefined ? ` REMOVE #${names.length - 2}, #${names.length - 1}` : "";
    const used = this.#ttlMs === undefined ? names : names.slice(0, -2);
    return {
      Update: {
        TableName: this.table.tableName,
        Key: this.headKey(memoryId),
        UpdateExpression: `SET ${places.join(", ")}${forget}`,
        ConditionExpression: "version = :expected AND (attribute_not_exists(endsAt) OR endsAt > :now)",
        ExpressionAttributeNames: Object.fromEntries(used.map((name, index) => [`#${index}`, name])),
        ExpressionAttributeValues: {
          ...values,
          ":expected": { S: change.expected },
          ":now": { N: String(now) },
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    };
  }

  /** The items of a message: its row, and what is too long for it in parts. */
  rowItems(memoryId: string, life: string, message: StoredMessage, { token, edit }: Place): Item[] {
    const { seq, id, createdAt, payload, meta } = message;
    const key = this.rowKey(memoryId, life, seq, token);
    const row: Item = {
      ...key,
      id: { S: id },
      createdAt: { N: String(createdAt) },
      ...(edit === 0 ? {} : { edit: { N: String(edit) } }),
    };
    if (bytesOf(message) <= partBytes) {
      return [{ ...row, payload: { S: payload }, ...(meta === undefined ? {} : { meta: { S: meta } }) }];
    }
    const pieces = [...cut(payload).map((S) => ({ payload: { S } }))];
    const metas = meta === undefined ? [] : cut(meta).map((S) => ({ meta: { S } }));
    const parts = [...pieces, ...metas];
    return [
      { ...row, parts: { N: String(parts.length) } },
      ...parts.map((part, index) => ({
        ...this.key(this.partition(memoryId), `${this.sortOf(key)}/${String(index).padStart(4, "0")}`),
        ...part,
      })),
    ];
  }

  /**
   * Marks seqs as superseded (`add`), as no longer so (`drop`), or as removed before their rows are: one action a block.
   * `known` are those that are superseded, needed where some of a block are added and others dropped.
   */
  markActions(
    memoryId: string,
    life: string,
    seqs: Readonly<Record<"add" | "drop" | "removed", readonly number[]>>,
    known: ReadonlySet<number>,
  ): Action[] {
    const blocks = new Set(Object.values(seqs).flat().map(blockOf));
    return [...blocks].map((block) => {
      const within = (list: Iterable<number>): number[] => [...list].filter((seq) => blockOf(seq) === block);
      const [add, drop, removed] = [within(seqs.add), within(seqs.drop), within(seqs.removed)];
      const isMixed = add.length > 0 && drop.length > 0;
      const kept = isMixed ? within(known).filter((seq) => !drop.includes(seq) && !add.includes(seq)) : [];
      const adds = [
        ...(add.length > 0 && !isMixed ? ["superseded :add"] : []),
        ...(removed.length > 0 ? ["removed :removed"] : []),
      ];
      const clauses = [
        ...(isMixed ? ["SET superseded = :add"] : []),
        ...(adds.length > 0 ? [`ADD ${adds.join(", ")}`] : []),
        ...(drop.length > 0 && !isMixed ? ["DELETE superseded :drop"] : []),
      ];
      const values = { ":add": [...kept, ...add], ":drop": isMixed ? [] : drop, ":removed": removed };
      return {
        Update: {
          TableName: this.table.tableName,
          Key: this.blockKey(memoryId, life, block * seqsPerBlock),
          UpdateExpression: clauses.join(" "),
          ExpressionAttributeValues: Object.fromEntries(
            Object.entries(values).flatMap(([name, list]) =>
              list.length === 0 ? [] : [[name, { NS: list.map((seq) => String(seq % seqsPerBlock)) }]],
            ),
          ),
        },
      };
    });
  }

  /** The seqs that a block of marks names. */
  marksOf(item: Item, kind: "superseded" | "removed"): number[] {
    const block = Number(this.sortOf(item).split("/").at(-1));
    return (item[kind]?.NS ?? []).map((offset) => block * seqsPerBlock + Number(offset));
  }
}

function blockOf(seq: number): number {
  return Math.floor(seq / seqsPerBlock);
}

/** The head in an item; `undefined` if it is none. */
export function headOf(item: Item): Head | undefined {
  const [version, live, life] = [text(item.version), text(item.live), text(item.life)];
  const [nextSeq, count, updatedAt] = [number(item.nextSeq), number(item.count), number(item.updatedAt)];
  if (version === undefined || live === undefined || life === undefined) return undefined;
  if (nextSeq === undefined || count === undefined || updatedAt === undefined) return undefined;
  const [owner, head, endsAt] = [text(item.owner), text(item.head), number(item.endsAt)];
  return { version, nextSeq, owner, head, live, life, count, updatedAt, endsAt };
}

export function isPresent({ endsAt }: Pick<Head, "endsAt">): boolean {
  return endsAt === undefined || endsAt > Date.now();
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
