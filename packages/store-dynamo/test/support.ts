import { randomUUID } from "node:crypto";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { type ConformanceHarness, counting, type FaultOptions, failing } from "@turnkeep/conformance";
import type { ChatMemoryStore, MemoryUpdate, StoredMessage } from "@turnkeep/core";
// Brings the type of `inject("dynamoUrl")` with it.
import type {} from "@turnkeep/servers";
import { bundled, message, messages, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, inject, vi } from "vitest";
import { type DynamoClient, type DynamoStore, type DynamoStoreOptions, dynamoStore } from "../src/index.ts";
import { chunks } from "../src/table.ts";

export type Item = Record<string, AttributeValue>;

/** A command of the driver: its operation by name, and what is asked. */
export interface Sent {
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

/** What `new DynamoDBClient` takes for a DynamoDB Local. */
export function configOf(url: string): {
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
} {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return { endpoint: new URL(url).origin, region: "us-east-1", credentials };
}

export function newClient(url: string): DynamoDBClient {
  return new DynamoDBClient(configOf(url));
}

/** A memory that a test has begun. */
export interface Begun {
  readonly memoryId: string;
  /** Changes it, if nobody else has since, and tells its version. */
  write(change?: Partial<MemoryUpdate>, by?: ChatMemoryStore): Promise<string>;
}

/** Begins a memory of its own id, or of that one. */
export async function begunBy(
  store: ChatMemoryStore,
  begin: MemoryUpdate,
  memoryId: string = randomUUID(),
): Promise<Begun> {
  await store.updateMessages(memoryId, begin);
  let { version } = begin;
  return {
    memoryId,
    async write(change, by = store) {
      const sent = update(version, begin.nextSeq, change);
      await by.updateMessages(memoryId, sent);
      version = sent.version;
      return version;
    },
  };
}

/** A name for a table of the test's own: the server is shared. */
export function newTableName(): string {
  return `test-${randomUUID()}`;
}

export async function newTable(
  url: string,
  options: Partial<DynamoStoreOptions> & { tableName?: string } = {},
): Promise<string> {
  const tableName = options.tableName ?? newTableName();
  const store = dynamoStore({ ...options, client: undefined, config: undefined, url, tableName });
  await store.migrate();
  await store.close();
  return tableName;
}

export interface OwnTable {
  readonly tableName: string;
  /** Of the test's own, to look into the table or to be wrapped. */
  readonly client: DynamoDBClient;
  /** A store with a client of its own. */
  readonly open: (options?: { ttlMs?: number; activityMs?: number; prefix?: string }) => DynamoStore;
}

/** A table for the tests of a file, and what they use it with; all of it is closed behind them. */
export function useOwnTable(): OwnTable {
  const url = inject("dynamoUrl");
  const tableName = newTableName();
  const client = newClient(url);
  const stores: DynamoStore[] = [];
  beforeAll(() => newTable(url, { tableName }));
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    client.destroy();
  });
  const open: OwnTable["open"] = (options) => {
    const store = dynamoStore({ url, tableName, ...options });
    stores.push(store);
    return store;
  };
  return { tableName, client, open };
}

/** A message whose payload has so many bytes. */
export function sized(seq: number, bytes: number, letter = "x"): StoredMessage {
  return message(seq, `"${letter.repeat(bytes - 2)}"`);
}

/** Calls two hours from now, when nobody writes any more what is staged now, or after so many minutes. */
export async function later<T>(call: () => Promise<T>, minutes = 120): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60 * 1000 });
  try {
    return await call();
  } finally {
    vi.useRealTimers();
  }
}

/** Lets `around` decide what becomes of each command; `send` hands it on. */
export function wrapped(
  client: DynamoClient,
  around: (sent: Sent, send: () => Promise<unknown>) => Promise<unknown>,
): DynamoClient {
  return {
    send(command: never, options?: never): Promise<unknown> {
      const { constructor: made, input } = command as { constructor: { name: string }; input: Sent["input"] };
      const sent = { operation: made.name.replace(/Command$/, ""), input };
      return around(sent, () => client.send(command, options));
    },
  };
}

/** A client that, after its first such operation, does something before it hands the answer on. */
export function interrupted(
  client: DynamoDBClient,
  first: string,
  meanwhile: () => Promise<unknown>,
): DynamoClient {
  let times = 0;
  return wrapped(client, async ({ operation }, send) => {
    const answer = await send();
    if (operation === first && ++times === 1) await meanwhile();
    return answer;
  });
}

export interface Recorder {
  readonly client: DynamoClient;
  readonly sent: Sent[];
  /** Read and write units of everything that was sent since `sent` was emptied. */
  units(): { read: number; write: number };
}

interface Capacity {
  readonly CapacityUnits?: number;
}

/** Passes every command on, keeps it, and adds up what it consumed. */
export function recording(client: DynamoDBClient): Recorder {
  const sent: Sent[] = [];
  const consumed: { read: boolean; units: number }[] = [];
  return {
    sent,
    client: wrapped(client, async (command, send) => {
      sent.push(command);
      command.input.ReturnConsumedCapacity = "TOTAL";
      const answer = (await send()) as { ConsumedCapacity?: Capacity | Capacity[] };
      const { ConsumedCapacity } = answer;
      const units = [ConsumedCapacity ?? []].flat().reduce((sum, one) => sum + (one.CapacityUnits ?? 0), 0);
      consumed.push({ read: isRead(command), units });
      return answer;
    }),
    units() {
      const sum = (read: boolean): number =>
        consumed.filter((one) => one.read === read).reduce((total, { units }) => total + units, 0);
      const answer = { read: sum(true), write: sum(false) };
      consumed.length = 0;
      return answer;
    },
  };
}

export function isRead({ operation }: Sent): boolean {
  return ["GetItem", "BatchGetItem", "TransactGetItems", "Query"].includes(operation);
}

/**
 * A client whose `step`-th write fails: unless it is told otherwise, nothing after it takes place. Who waits for it goes on
 * when what was sent before has arrived.
 */
export function dying(client: DynamoClient, options: FaultOptions): DynamoClient {
  const fault = failing(options);
  const sent: Promise<unknown>[] = [];
  return wrapped(client, async (command, send) => {
    let answered: (() => void) | undefined;
    try {
      if (isRead(command)) fault.read();
      else answered = fault.write();
    } catch (error) {
      await Promise.allSettled(sent);
      throw error;
    }
    const answer = send();
    sent.push(answer);
    await answer;
    answered?.();
    return answer;
  });
}

/** What the kit does with a server, from this process and another. */
export function serverAccess(
  place: { readonly url: string; readonly tableName: string },
  client: DynamoClient,
): Pick<ConformanceHarness, "elsewhere" | "unreachable" | "counted"> {
  return {
    elsewhere: async () => ({
      module: await bundled(new URL("elsewhere.ts", import.meta.url)),
      data: place,
    }),
    unreachable: () => ({ store: dynamoStore({ url: "http://app:s3cret@127.0.0.1:1" }), secret: "s3cret" }),
    counted() {
      const { call, count } = counting();
      const counted = wrapped(client, ({ input }, send) => call(input, send));
      return { store: dynamoStore({ client: counted, tableName: place.tableName }), count };
    },
  };
}

/** A client to which everything that is staged seems to have been for long, so that a sweep gives it up. */
export function hurried(client: DynamoClient): DynamoClient {
  return {
    async send(command: never, options?: never): Promise<unknown> {
      const answer = (await client.send(command, options)) as { Items?: Item[] };
      for (const item of answer.Items ?? []) if (item.stage !== undefined) item.updatedAt = { N: "0" };
      return answer;
    },
  };
}

/** An error as the driver throws it, by default for an answer that refuses. */
export function fault(name: string, members: object = {}, httpStatusCode: number | undefined = 400): Error {
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, ...members });
}

/** An error as the driver throws it for an answer that never came. */
export function silence(name = "TimeoutError"): Error {
  return Object.assign(new Error(name), { name, $metadata: { attempts: 1 } });
}

/** A transaction that was refused, with a code for each of its actions. */
export function canceled(...codes: string[]): Error {
  const CancellationReasons = codes.map((Code) => ({ Code, Item: { payload: { S: "private words" } } }));
  return fault("TransactionCanceledException", { CancellationReasons });
}

/** Everything in a partition. */
export async function itemsIn(client: DynamoDBClient, table: string, partition: string): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :p",
        ExpressionAttributeValues: { ":p": { S: partition } },
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

/** Puts all that a memory has, which only a store with that prefix finds, so that no sweep of another meets it. */
export async function copyMemory(
  client: DynamoDBClient,
  table: string,
  items: readonly Item[],
  prefix: string,
): Promise<void> {
  const puts = items.map((item) => ({ PutRequest: { Item: { ...item, pk: { S: prefix + item.pk?.S } } } }));
  await Promise.all(
    chunks(puts, 25).map((batch) =>
      client.send(new BatchWriteItemCommand({ RequestItems: { [table]: batch } })),
    ),
  );
}

/** The entries of the listing of all memories, work items among them. */
export async function itemsBeside(
  client: DynamoDBClient,
  table: string,
  memoryId: string,
  prefix = "",
): Promise<Item[]> {
  const items = await itemsOfShards(client, table, `${prefix}all`);
  return items.filter((item) => item.sk?.S?.startsWith(`${memoryId}/`));
}

/** The entries of the listing of all memories by activity. */
export async function newestBeside(client: DynamoDBClient, table: string, memoryId: string): Promise<Item[]> {
  const items = await itemsOfShards(client, table, "newest:all");
  return items.filter((item) => item.sk?.S?.slice(17).startsWith(`${memoryId}/`));
}

async function itemsOfShards(client: DynamoDBClient, table: string, name: string): Promise<Item[]> {
  const partitions = Array.from({ length: 8 }, (_, shard) => `${name}:${shard}`);
  return (await Promise.all(partitions.map((partition) => itemsIn(client, table, partition)))).flat();
}

/** Deletes the head of a memory, as the table's own expiry does. */
export async function takeHead(client: DynamoDBClient, table: string, memoryId: string): Promise<void> {
  const Key = { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } };
  await client.send(new DeleteItemCommand({ TableName: table, Key }));
}

/**
 * The ids of all messages whose content a memory's partition holds, sorted: of the head, of rows, and of what was written
 * in parts, whether a row names them or not.
 */
export async function idsStored(
  client: DynamoDBClient,
  table: string,
  memoryId: string,
  prefix = "",
): Promise<string[]> {
  const texts = new Map<string, string>();
  for (const { sk, recent, rows } of await itemsIn(client, table, `${prefix}memory:${memoryId}`)) {
    const place = sk?.S?.replace(/[^/]*$/, (last) => (/^\d{6}$/.test(last) ? "" : last)) ?? "";
    texts.set(place, `${texts.get(place) ?? ""}${recent?.S ?? rows?.S ?? ""}`);
  }
  const lines = [...texts.values()].flatMap((one) => (one === "" ? [] : one.split("\n")));
  return lines.map((line) => String((JSON.parse(line) as unknown[])[2])).sort();
}

/** Where the texts of a memory stand: each attribute that is a text, of each item, keys excepted. */
async function texts(client: DynamoDBClient, table: string, memoryId: string): Promise<[Item, string][]> {
  const items = await itemsIn(client, table, `memory:${memoryId}`);
  return items.flatMap((item) =>
    Object.entries(item).flatMap(([name, value]): [Item, string][] =>
      value.S === undefined || name === "pk" || name === "sk" ? [] : [[item, name]],
    ),
  );
}

/** Everything that the database holds for a memory, as text. */
export async function rawRead(client: DynamoDBClient, table: string, memoryId: string): Promise<string[]> {
  return (await texts(client, table, memoryId)).map(([item, name]) => item[name]?.S ?? "");
}

/** Puts these texts in place of those of `rawRead`. */
export async function rawWrite(
  client: DynamoDBClient,
  table: string,
  memoryId: string,
  values: readonly string[],
): Promise<void> {
  const places = await texts(client, table, memoryId);
  for (const [index, [item, name]] of places.entries()) item[name] = { S: values[index] as string };
  for (const Item of new Set(places.map(([item]) => item))) {
    await client.send(new PutItemCommand({ TableName: table, Item }));
  }
}

/** Removes the item that holds the text at this index of what `rawRead` answers. */
export async function rawRemove(
  client: DynamoDBClient,
  table: string,
  memoryId: string,
  index: number,
): Promise<void> {
  const [item] = (await texts(client, table, memoryId))[index] ?? [];
  if (item === undefined) return;
  const { pk, sk } = item as { pk: AttributeValue; sk: AttributeValue };
  await client.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } }));
}

/** Too much for the head: each in a row of its own. */
export function inRows(from: number, to: number): StoredMessage[] {
  return messages(from, to).map(({ seq }) => message(seq, `"${"x".repeat(3_000)}"`));
}
