import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { message, messages, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import { fault, newClient, newTableName, wrapped } from "./support.ts";

const url = inject("dynamoUrl");
let client: DynamoDBClient;

beforeAll(() => {
  client = newClient(url);
});
afterAll(() => client.destroy());

async function works(store: DynamoStore, memoryId = "a"): Promise<void> {
  const begin = update(null, 3, { owner: "o", append: messages(1, 2) });
  await store.updateMessages(memoryId, begin);
  const move = [{ seq: 1, to: "evicted" as const }];
  await store.updateMessages(memoryId, update(begin.version, 4, { append: [message(3)], move }));
  expect((await store.getMessages(memoryId)).messages).toEqual(messages(2, 3));
  expect((await store.getHistory(memoryId, {})).messages).toHaveLength(3);
  for (const owner of ["o", undefined])
    expect((await store.listMemories({ owner })).memories).toMatchObject([{ memoryId }]);
  await store.deleteMessages(memoryId);
  expect(await store.listMemories({})).toEqual({ memories: [] });
  expect(await store.sweep()).toEqual({ removed: 0 });
}

async function createTable(
  tableName: string,
  hash: string,
  range: string | undefined,
  type: "S" | "N" = "S",
  index?: { kind: "global" | "local"; name: string; type: "S" | "N" },
) {
  const keys = [hash, range].filter((name) => name !== undefined);
  const schema = (names: string[]) =>
    names.map((AttributeName, place) => ({
      AttributeName,
      KeyType: place === 0 ? ("HASH" as const) : ("RANGE" as const),
    }));
  const indexes = index && [
    {
      IndexName: `by-${index.name}`,
      KeySchema: schema(index.kind === "local" ? [hash, index.name] : [index.name]),
      Projection: { ProjectionType: "KEYS_ONLY" as const },
    },
  ];
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        ...keys.map((AttributeName) => ({
          AttributeName,
          AttributeType: AttributeName === range ? type : ("S" as const),
        })),
        ...(index === undefined ? [] : [{ AttributeName: index.name, AttributeType: index.type }]),
      ],
      KeySchema: schema(keys),
      ...(indexes === undefined
        ? {}
        : { [index?.kind === "local" ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes"]: indexes }),
    }),
  );
}

test("before migrate every method says so and names it", async () => {
  const tableName = newTableName();
  const store = dynamoStore({ client, tableName });
  const calls = [
    () => store.getMessages("a"),
    () => store.updateMessages("a", update(null, 2, { append: [message(1)] })),
    () => store.updateMessages("a", update("v", 2, { append: [message(1)] })),
    () => store.deleteMessages("a"),
    () => store.getHistory("a", {}),
    () => store.listMemories({}),
    () => store.sweep(),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(`the table "${tableName}" .*migrate\\(\\)`),
      cause: expect.objectContaining({ name: "ResourceNotFoundException" }),
    });
  }
});

test("makes a table billed on demand, with its expiry; twice is once", async () => {
  const tableName = newTableName();
  const store = dynamoStore({ client, tableName });
  await store.migrate();
  const describe = new DescribeTableCommand({ TableName: tableName });
  const { Table: first } = await client.send(describe);
  expect(first).toMatchObject({
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
    TableStatus: "ACTIVE",
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
  });
  const expiry = new DescribeTimeToLiveCommand({ TableName: tableName });
  expect((await client.send(expiry)).TimeToLiveDescription).toEqual({
    AttributeName: "ttl",
    TimeToLiveStatus: "ENABLED",
  });
  await store.migrate();
  expect((await client.send(describe)).Table?.CreationDateTime).toEqual(first?.CreationDateTime);
  await works(store);
});

test("twelve at once", async () => {
  const tableName = newTableName();
  const stores = Array.from({ length: 12 }, () => dynamoStore({ url, tableName }));
  await Promise.all(stores.map((store) => store.migrate()));
  await works(stores[0] as DynamoStore);
  await Promise.all(stores.map((store) => store.close()));
});

/** A table of this store is never active; `onLook` is told how often it was looked at. */
function neverActive(onLook: (looks: number) => void): DynamoStore {
  let looks = 0;
  const slow = wrapped(client, async ({ operation }, send) => {
    const answer = (await send()) as { Table?: object };
    if (operation !== "DescribeTable") return answer;
    onLook(++looks);
    return { Table: { ...answer.Table, TableStatus: "CREATING" } };
  });
  return dynamoStore({ client: slow, tableName: newTableName() });
}

test("a signal ends the wait for a new table", async () => {
  const controller = new AbortController();
  const store = neverActive((looks) => {
    if (looks === 2) setImmediate(() => controller.abort());
  });
  await expect(store.migrate({ signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
});

test("a table that is not active after five minutes is not ready", async () => {
  const began = Date.now();
  const store = neverActive((looks) => {
    if (looks === 3) vi.spyOn(Date, "now").mockReturnValue(began + 5 * 60 * 1000 + 1_000);
  });
  try {
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(/is still CREATING: .*migrate\(\) again/),
    });
  } finally {
    vi.restoreAllMocks();
  }
});

/** A table that is there and of which DynamoDB says this too. */
async function described(as: object): Promise<DynamoStore> {
  const tableName = newTableName();
  await createTable(tableName, "pk", "sk");
  const other = wrapped(client, async ({ operation }, send) => {
    const answer = (await send()) as { Table?: object };
    return operation === "DescribeTable" ? { Table: { ...answer.Table, ...as } } : answer;
  });
  return dynamoStore({ client: other, tableName });
}

test.each(["DELETING", "ARCHIVED", "INACCESSIBLE_ENCRYPTION_CREDENTIALS"])(
  "a table that is %s is not ready, and not waited for",
  async (TableStatus) => {
    await expect((await described({ TableStatus })).migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(`is ${TableStatus}: .*migrate\\(\\) again`),
    });
  },
);

test("a global table with strong consistency, which has no transactions, is not ready", async () => {
  await expect((await described({ MultiRegionConsistency: "STRONG" })).migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining("transactions"),
  });
  await (await described({ MultiRegionConsistency: "EVENTUAL" })).migrate();
});

test.each(["DescribeTable", "CreateTable", "DescribeTimeToLive", "UpdateTimeToLive"])(
  "credentials that may not %s are told so",
  async (denied) => {
    const other = wrapped(client, async ({ operation }, send) => {
      if (operation === denied) throw fault("AccessDeniedException");
      return send();
    });
    await expect(dynamoStore({ client: other, tableName: newTableName() }).migrate()).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining(denied),
      cause: { name: "AccessDeniedException" },
    });
  },
);

describe("a table that is there", () => {
  test("is used by its names, whatever they are, and shared by prefixes", async () => {
    const tableName = newTableName();
    await createTable(tableName, "PK #1", "Größe");
    const names = { partitionKey: "PK #1", sortKey: "Größe", ttlAttribute: "expires-at" };
    const stores = ["", "a:", "A:", "é"].map((prefix) =>
      dynamoStore({ client, tableName, ...names, prefix }),
    );
    for (const store of stores) await store.migrate();
    for (const [index, store] of stores.entries()) {
      await store.updateMessages("same", update(null, 2, { append: [{ ...message(1), id: `of ${index}` }] }));
    }
    for (const [index, store] of stores.entries()) {
      expect((await store.getMessages("same")).messages.map(({ id }) => id)).toEqual([`of ${index}`]);
      expect((await store.listMemories({})).memories).toHaveLength(1);
      await store.deleteMessages("same");
      await works(store);
    }
  });

  test.each([
    ["another partition key", "key", "sk", "S", "partitionKey"],
    ["another sort key", "pk", "range", "S", "sortKey"],
    ["no sort key", "pk", undefined, "S", "sortKey"],
    ["a sort key that is a number", "pk", "sk", "N", "sortKey"],
  ] as const)("with %s is refused, by migrate() and by every call", async (_, hash, range, type, option) => {
    const tableName = newTableName();
    await createTable(tableName, hash, range, type);
    const store = dynamoStore({ client, tableName });
    await expect(store.migrate()).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining(option),
    });
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_NOT_READY" });
  });

  test.each([
    ["global", "owner", "N", "is of type S"],
    ["global", "nextSeq", "S", "is of type N"],
    ["global", "ttl", "S", "is of type N"],
    ["global", "live", "S", "cannot be indexed"],
    ["local", "head", "S", "cannot be indexed"],
    ["local", "updatedAt", "S", "is of type N"],
  ] as const)(
    "with a %s index on %s of type %s is not ready, since writes would fail",
    async (kind, name, type, says) => {
      const tableName = newTableName();
      await createTable(tableName, "pk", "sk", "S", { kind, name, type });
      const store = dynamoStore({ client, tableName });
      await expect(store.migrate()).rejects.toMatchObject({
        code: "STORE_NOT_READY",
        message: expect.stringMatching(`index "by-${name}" .*on "${name}", of type ${type}, .*${says}`),
      });
      const begin = update(null, 1, { owner: "o", head: "" });
      const expiring = dynamoStore({ client, tableName, ttlMs: 60_000 });
      await expect(expiring.updateMessages("a", begin)).rejects.toMatchObject({ code: "STORE_REFUSED" });
    },
  );

  test("with indexes on other attributes, or on ours as they are, works", async () => {
    for (const [kind, name, type] of [
      ["global", "theirs", "N"],
      ["global", "owner", "S"],
      ["local", "updatedAt", "N"],
    ] as const) {
      const tableName = newTableName();
      await createTable(tableName, "pk", "sk", "S", { kind, name, type });
      const store = dynamoStore({ client, tableName });
      await store.migrate();
      await works(store);
    }
  });

  test("is ready while DynamoDB changes it and turns its expiry on", async () => {
    const tableName = newTableName();
    await createTable(tableName, "pk", "sk");
    const asked: string[] = [];
    const changing = wrapped(client, async ({ operation }, send) => {
      asked.push(operation);
      if (operation === "DescribeTimeToLive")
        return { TimeToLiveDescription: { TimeToLiveStatus: "ENABLING", AttributeName: "ttl" } };
      const answer = (await send()) as { Table: object };
      return { Table: { ...answer.Table, TableStatus: "UPDATING" } };
    });
    // Would wait for minutes, else.
    await dynamoStore({ client: changing, tableName }).migrate({ signal: AbortSignal.timeout(30_000) });
    expect(new Set(asked)).toEqual(new Set(["DescribeTable", "DescribeTimeToLive"]));
  });

  test("with another expiry is refused, and keeps it", async () => {
    const tableName = newTableName();
    await createTable(tableName, "pk", "sk");
    const TimeToLiveSpecification = { Enabled: true, AttributeName: "theirs" };
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
    await expect(dynamoStore({ client, tableName }).migrate()).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining('"theirs"'),
    });
    const store = dynamoStore({ client, tableName, ttlAttribute: "theirs" });
    await store.migrate();
    await works(store);
  });
});
