import { randomUUID } from "node:crypto";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import { dying, idsStored, itemsBeside, itemsIn, newClient, newTable, newTableName, wrapped } from "./support.ts";

const url = inject("dynamoUrl");
const tableName = newTableName();
let client: DynamoDBClient;
let store: DynamoStore;
beforeAll(async () => {
  await newTable(url, { tableName });
  client = newClient(url);
  store = dynamoStore({ client, tableName });
});
afterAll(() => client.destroy());
const sized = (seq: number, bytes: number, letter = "x") => message(seq, `"${letter.repeat(bytes)}"`);

test("probe", async () => {
  const id = "probe";
  let version: string | null = null;
  let next = 1;
  const t = Date.now();
  while (next < 300) {
    const append = Array.from({ length: 20 }, (_, i) => sized(next + i, 4_100));
    const move = append.filter((_, i) => i % 2 === 0).map(({ seq }) => ({ seq, to: "evicted" as const }));
    next += 20;
    const u: MemoryUpdate = update(version, next, { append, move });
    await store.updateMessages(id, u);
    version = u.version;
  }
  const rows = (await itemsIn(client, tableName, `memory:${id}`)).filter(({ rows }) => rows);
  console.log("begun", Date.now() - t, rows.length, next);
  const t2 = Date.now();
  const move = Array.from({ length: 250 }, (_, i) => ({ seq: i + 1, to: "removed" as const }));
  await store.updateMessages(id, update(version, next, { move }));
  console.log("removed", Date.now() - t2);
  const all = await itemsIn(client, tableName, `memory:${id}`);
  console.log(all.length, (await store.getHistory(id, { limit: 1000 })).messages.length, all.map(i => i.sk?.S).slice(0, 4));
  console.log((await itemsBeside(client, tableName, id)));
});
