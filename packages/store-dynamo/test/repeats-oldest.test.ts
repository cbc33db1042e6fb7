import { createChatMemory, entry, user } from "@turnkeep/core";
import { DynamoDBClient } from "dynamodb-oldest";
import { beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import { type LossyProxy, startLossyProxy } from "./lossy-proxy.ts";
import { configOf, newTable, newTableName } from "./support.ts";

// As in conformance-oldest.test.ts.
vi.mock("@aws-sdk/client-dynamodb", () => import("dynamodb-oldest"));

const url = inject("dynamoUrl");
const tableName = newTableName();
beforeAll(() => newTable(url, { tableName }));

function open(address: string): DynamoStore {
  const client = new DynamoDBClient(configOf(address));
  onTestFinished(() => client.destroy());
  return dynamoStore({ client, tableName });
}

async function begun(id: string): Promise<{ proxy: LossyProxy; add: () => Promise<unknown> }> {
  const proxy = await startLossyProxy(url);
  const memory = createChatMemory({ id, store: open(proxy.url) });
  await memory.add(entry(user("old"), { id: "old" }));
  return { proxy, add: () => memory.add(entry(user("new"), { id: "new" })) };
}

test("the oldest SDK, too, tells of a put that it has repeated by itself", async () => {
  const other = createChatMemory({ id: "cleared", store: open(url) });
  const { proxy, add } = await begun("cleared");
  proxy.loseAnswer("PutItem", () => other.clear());
  await expect(add()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(proxy.requests.filter((operation) => operation === "PutItem")).toHaveLength(2);
  expect((await other.history()).messages).toEqual([]);
});

test("and of a put that was refused for certain", async () => {
  const other = createChatMemory({ id: "conflict", store: open(url) });
  const { proxy, add } = await begun("conflict");
  proxy.loseRequest("PutItem", () => other.add(entry(user("theirs"), { id: "theirs" })));
  await add();
  expect((await other.history()).messages.map(({ id }) => id)).toEqual(["old", "theirs", "new"]);
});
