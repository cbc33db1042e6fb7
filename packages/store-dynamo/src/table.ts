import { randomUUID } from "node:crypto";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Refusal, Run } from "./client.ts";

/** The names of the table and its keys, and the prefix of partition keys. */
export interface TableNames {
  readonly tableName: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  readonly ttlAttribute: string;
  readonly prefix: string;
}

export interface Key {
  readonly partition: string;
  readonly sort: string;
}

/** The attributes of an item, without its keys. An `undefined` one is absent. */
export type Values = Readonly<Record<string, string | number | undefined>>;

export interface Entry extends Key {
  readonly values: Values;
}

export type Action = { readonly [kind in "Put" | "Update" | "Delete" | "ConditionCheck"]?: object };

/** What must be true of the existing item. `#p` and `#c` stand for its partition key and its count. */
export interface Condition {
  readonly expression: string;
  readonly values?: Values;
}

export interface QueryOptions {
  /** Sort keys that begin with this or, with `to`, those between both, inclusive. */
  readonly from?: string;
  readonly to?: string;
  /** Only items after that sort key. */
  readonly after?: string | undefined;
  /** How many items the first page may have; each further page may have four times as many. */
  readonly limit?: number | undefined;
  readonly descending?: boolean;
  readonly keysOnly?: boolean;
}

export interface Page {
  readonly entries: readonly Entry[];
  /** The sort key after which the next page begins; absent: there is none. */
  readonly last: string | undefined;
}

type Item = Record<string, AttributeValue>;

interface QueryAnswer {
  readonly Items?: readonly Item[];
  readonly LastEvaluatedKey?: Item;
}

/** How many operations of one call run at a time. */
const atOnce = 8;

/** The limits of one transaction, and of one `BatchGetItem`. */
export const actionsAtOnce = 100;
const keysAtOnce = 100;

/** The limit of one `BatchWriteItem`: 25 items (and 16 MB, which 25 items of 400 KB never reach). */
const writesAtOnce = 25;

const longestPage = 1_000;

/** The operations on the table, under one call's signal. */
export class Table {
  readonly #run: Run;
  readonly #names: TableNames;

  constructor(run: Run, names: TableNames) {
    this.#run = run;
    this.#names = names;
  }

  get ttlAttribute(): string {
    return this.#names.ttlAttribute;
  }

  async get(key: Key): Promise<Entry | undefined> {
    const input = { TableName: this.#names.tableName, Key: this.#keyOf(key), ConsistentRead: true };
    const { Item: item } = await this.#run<{ Item?: Item }>({ operation: "GetItem", input });
    return item && this.#entryOf(item);
  }

  async getAll(keys: readonly Key[]): Promise<Entry[]> {
    const found = await inTurn(chunks(keys, keysAtOnce), (some) => {
      const request = { Keys: some.map((key) => this.#keyOf(key)), ConsistentRead: true };
      return this.#run<{ Responses?: Record<string, Item[]> }>({
        operation: "BatchGetItem",
        input: { RequestItems: { [this.#names.tableName]: request } },
      });
    });
    return found.flatMap(({ Responses = {} }) => Object.values(Responses).flat()).map(this.#entryOf);
  }

  /** Items as they are when no transaction is about to change them. */
  async settled(keys: readonly Key[]): Promise<(Values | undefined)[]> {
    const found = await inTurn(chunks(keys, actionsAtOnce), (some) => {
      const TransactItems = some.map((key) => ({
        Get: { TableName: this.#names.tableName, Key: this.#keyOf(key) },
      }));
      const input = { TransactItems };
      return this.#run<{ Responses: { Item?: Item }[] }>({
        operation: "TransactGetItems",
        input,
        insists: true,
      });
    });
    return found
      .flatMap(({ Responses }) => Responses)
      .map(({ Item: item }) => item && this.#entryOf(item).values);
  }

  /** Items of a partition, page by page. */
  async *query(partition: string, options: QueryOptions = {}): AsyncGenerator<Page> {
    const { from, to, after, descending = false, keysOnly = false } = options;
    const { partitionKey, sortKey, tableName } = this.#names;
    const within = to === undefined ? " AND begins_with(#s, :a)" : " AND #s BETWEEN :a AND :b";
    const input = {
      TableName: tableName,
      ConsistentRead: true,
      ScanIndexForward: !descending,
      KeyConditionExpression: `#p = :p${from === undefined ? "" : within}`,
      ExpressionAttributeNames: { "#p": partitionKey, ...(keysOnly || from ? { "#s": sortKey } : {}) },
      ExpressionAttributeValues: itemOf({ ":p": this.#names.prefix + partition, ":a": from, ":b": to }),
      ...(keysOnly ? { ProjectionExpression: "#p, #s" } : {}),
    };
    let start = after === undefined ? undefined : this.#keyOf({ partition, sort: after });
    let limit = options.limit;
    do {
      const page = { ExclusiveStartKey: start, Limit: limit };
      const answer = await this.#run<QueryAnswer>({ operation: "Query", input: { ...input, ...page } });
      start = answer.LastEvaluatedKey;
      limit = limit === undefined ? undefined : Math.min(4 * limit, longestPage);
      yield { entries: (answer.Items ?? []).map(this.#entryOf), last: start?.[sortKey]?.S };
    } while (start !== undefined);
  }

  /** Writes without a condition; existing items are overwritten. */
  async putAll(entries: readonly Entry[]): Promise<void> {
    await this.#batch(entries.map((entry) => ({ PutRequest: { Item: this.#itemOf(entry) } })));
  }

  async deleteAll(keys: readonly Key[]): Promise<void> {
    await this.#batch(keys.map((key) => ({ DeleteRequest: { Key: this.#keyOf(key) } })));
  }

  async #batch(requests: readonly object[]): Promise<void> {
    await inTurn(chunks(requests, writesAtOnce), (some) => {
      const RequestItems = { [this.#names.tableName]: some };
      return this.#run({ operation: "BatchWriteItem", input: { RequestItems } });
    });
  }

  /**
   * All or none; a single action costs half of what it costs in a transaction. Returns why nothing was done. `insists`
   * waits out a conflict with a running transaction.
   */
  async write(actions: readonly Action[], insists = false): Promise<Refusal | undefined> {
    const [[kind, input] = []] = Object.entries(actions[0] ?? {});
    // With the token, repetitions by the driver or the network count as one.
    const transaction = { TransactItems: actions, ClientRequestToken: randomUUID() };
    const { refusal } = await this.#run<{ refusal?: Refusal }>(
      actions.length === 1
        ? { operation: `${kind}Item`, input: input as object, insists }
        : { operation: "TransactWriteItems", input: transaction, insists },
    );
    return refusal;
  }

  put(entry: Entry, condition?: Condition): Action {
    return { Put: this.#given({ Item: this.#itemOf(entry) }, condition) };
  }
  delete(key: Key, condition?: Condition): Action {
    return { Delete: this.#given({ Key: this.#keyOf(key) }, condition) };
  }
  check(key: Key, condition: Condition): Action {
    return { ConditionCheck: this.#given({ Key: this.#keyOf(key) }, condition) };
  }
  /** Removes one attribute from an item. */
  unset(key: Key, attribute: string, condition: Condition): Action {
    const input = { Key: this.#keyOf(key), UpdateExpression: `REMOVE ${attribute}` };
    return { Update: this.#given(input, condition) };
  }

  #given(what: object, condition: Condition | undefined): object {
    const input: Record<string, unknown> = { TableName: this.#names.tableName, ...what };
    if (condition === undefined) return input;
    const { expression, values } = condition;
    const names = Object.entries({ "#p": this.#names.partitionKey, "#c": "count" });
    const used = names.filter(([alias]) => expression.includes(alias));
    input.ConditionExpression = expression;
    if (used.length > 0) input.ExpressionAttributeNames = Object.fromEntries(used);
    if (values !== undefined) input.ExpressionAttributeValues = itemOf(values);
    return input;
  }

  #keyOf({ partition, sort }: Key): Item {
    const { partitionKey, sortKey, prefix } = this.#names;
    return { [partitionKey]: { S: prefix + partition }, [sortKey]: { S: sort } };
  }
  #itemOf(entry: Entry): Item {
    return Object.assign(itemOf(entry.values), this.#keyOf(entry));
  }
  readonly #entryOf = (item: Item): Entry => {
    const { partitionKey, sortKey, prefix } = this.#names;
    const { [partitionKey]: partition, [sortKey]: sort, ...rest } = item;
    const values = Object.entries(rest).map(([name, { S, N }]) => [name, N === undefined ? S : Number(N)]);
    const key = { partition: partition?.S?.slice(prefix.length) ?? "", sort: sort?.S ?? "" };
    return { ...key, values: Object.fromEntries(values) };
  };
}

function itemOf(values: Values): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) item[name] = typeof value === "string" ? { S: value } : { N: String(value) };
  }
  return item;
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** The results in the order of the list, with some calls at a time. */
export async function inTurn<T, A>(list: readonly T[], call: (entry: T) => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  for (const some of chunks(list, atOnce)) answers.push(...(await Promise.all(some.map(call))));
  return answers;
}
