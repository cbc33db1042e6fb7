/** The operations on the table, and how its items are written as DynamoDB wants them. */
import { randomUUID } from "node:crypto";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Calls, Refusal, Run } from "./client.ts";

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

/** Those of an item, without its keys. An `undefined` one is absent. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface TableItem extends Key {
  readonly values: Attributes;
}

export type Action = { readonly [kind in "Put" | "Update" | "Delete" | "ConditionCheck"]?: object };

/** What must be true of the existing item. `#p` and `#c` stand for its partition key and its count. */
export interface Condition {
  readonly expression: string;
  readonly values?: Attributes;
}

export interface QueryOptions {
  /** Sort keys that begin with this or, with `to`, those between both, inclusive. */
  readonly from?: string;
  readonly to?: string;
  /** Only items after that sort key. */
  readonly after?: string | undefined;
  /** How many items the first page may have; each further page may have four times as many. Default: as many as fit. */
  readonly limit?: number | undefined;
  readonly descending?: boolean;
  readonly keysOnly?: boolean;
}

export interface Page {
  readonly items: readonly TableItem[];
  /** The sort key after which the next page begins; absent: there is none. */
  readonly last: string | undefined;
}

type AttributeMap = Record<string, AttributeValue>;

interface QueryAnswer {
  readonly Items?: readonly AttributeMap[];
  readonly LastEvaluatedKey?: AttributeMap;
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
  /** For operations on the table itself. */
  readonly run: Run;
  readonly pause: Calls["pause"];
  readonly #names: TableNames;

  constructor({ run, pause }: Calls, names: TableNames) {
    this.run = run;
    this.pause = pause;
    this.#names = names;
  }

  get ttlAttribute(): string {
    return this.#names.ttlAttribute;
  }

  async get(key: Key): Promise<TableItem | undefined> {
    const input = { TableName: this.#names.tableName, Key: this.#keyOf(key), ConsistentRead: true };
    const { Item } = await this.run<{ Item?: AttributeMap }>({ operation: "GetItem", input });
    return Item && this.#itemOf(Item);
  }

  async getAll(keys: readonly Key[]): Promise<TableItem[]> {
    const answers = await inTurn(chunks(keys, keysAtOnce), (some) => {
      const request = { Keys: some.map((key) => this.#keyOf(key)), ConsistentRead: true };
      return this.run<{ Responses?: Record<string, AttributeMap[]> }>({
        operation: "BatchGetItem",
        input: { RequestItems: { [this.#names.tableName]: request } },
      });
    });
    return answers.flatMap(({ Responses = {} }) => Object.values(Responses).flat()).map(this.#itemOf);
  }

  /** Items as they are when no transaction is about to change them. */
  async settled(keys: readonly Key[]): Promise<(Attributes | undefined)[]> {
    const answers = await inTurn(chunks(keys, actionsAtOnce), (some) => {
      const TransactItems = some.map((key) => ({
        Get: { TableName: this.#names.tableName, Key: this.#keyOf(key) },
      }));
      const input = { TransactItems };
      return this.run<{ Responses: { Item?: AttributeMap }[] }>({
        operation: "TransactGetItems",
        input,
        insists: true,
      });
    });
    return answers.flatMap(({ Responses }) => Responses).map(({ Item }) => Item && this.#itemOf(Item).values);
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
      ExpressionAttributeValues: attributesOf({ ":p": this.#names.prefix + partition, ":a": from, ":b": to }),
      ...(keysOnly ? { ProjectionExpression: "#p, #s" } : {}),
    };
    let start = after === undefined ? undefined : this.#keyOf({ partition, sort: after });
    let limit = options.limit;
    do {
      const page = { ExclusiveStartKey: start, Limit: limit };
      const answer = await this.run<QueryAnswer>({ operation: "Query", input: { ...input, ...page } });
      const { Items = [], LastEvaluatedKey } = answer;
      start = LastEvaluatedKey;
      limit = limitAfter(Items.length, limit, options.limit);
      yield { items: Items.map(this.#itemOf), last: start?.[sortKey]?.S };
    } while (start !== undefined);
  }

  /** Writes without a condition; existing items are overwritten. */
  async putAll(items: readonly TableItem[]): Promise<void> {
    await this.#batch(items.map((item) => ({ PutRequest: { Item: this.#attributesOf(item) } })));
  }

  async deleteAll(keys: readonly Key[]): Promise<void> {
    await this.#batch(keys.map((key) => ({ DeleteRequest: { Key: this.#keyOf(key) } })));
  }

  async #batch(requests: readonly object[]): Promise<void> {
    await inTurn(chunks(requests, writesAtOnce), (some) => {
      const RequestItems = { [this.#names.tableName]: some };
      return this.run({ operation: "BatchWriteItem", input: { RequestItems } });
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
    const { refusal } = await this.run<{ refusal?: Refusal }>(
      actions.length === 1
        ? { operation: `${kind}Item`, input: input as object, insists }
        : { operation: "TransactWriteItems", input: transaction, insists },
    );
    return refusal;
  }

  put(item: TableItem, condition?: Condition): Action {
    return { Put: this.#given({ Item: this.#attributesOf(item) }, condition) };
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
    if (values !== undefined) input.ExpressionAttributeValues = attributesOf(values);
    return input;
  }

  #keyOf({ partition, sort }: Key): AttributeMap {
    const { partitionKey, sortKey, prefix } = this.#names;
    return { [partitionKey]: { S: prefix + partition }, [sortKey]: { S: sort } };
  }
  #attributesOf(item: TableItem): AttributeMap {
    return Object.assign(attributesOf(item.values), this.#keyOf(item));
  }
  readonly #itemOf = (attributes: AttributeMap): TableItem => {
    const { partitionKey, sortKey, prefix } = this.#names;
    const { [partitionKey]: partition, [sortKey]: sort, ...rest } = attributes;
    const values = Object.entries(rest).map(([name, { S, N }]) => [name, N === undefined ? S : Number(N)]);
    const key = { partition: partition?.S?.slice(prefix.length) ?? "", sort: sort?.S ?? "" };
    return { ...key, values: Object.fromEntries(values) };
  };
}

/**
 * How many items the page may have that follows one of so many, which may have had `limit`. One that its megabyte cut short
 * tells how many fit: DynamoDB Local reads as many as it may send, for each page anew.
 */
function limitAfter(count: number, limit: number | undefined, first: number | undefined): number {
  if (limit === undefined || count < limit) return 2 * Math.max(count, 1);
  return first === undefined ? 4 * limit : Math.min(4 * limit, longestPage);
}

function attributesOf(values: Attributes): AttributeMap {
  const item: AttributeMap = {};
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
export async function inTurn<T, A>(list: readonly T[], call: (one: T) => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  for (const some of chunks(list, atOnce)) answers.push(...(await Promise.all(some.map(call))));
  return answers;
}
