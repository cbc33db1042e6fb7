import { randomUUID } from "node:crypto";
import { PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { message, update } from "@turnkeep/store-tests";
import { expect, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { type Item, inRows, itemsBeside, itemsIn, recording, useOwnTable } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

test.each(["REMOVE life", "SET life = :damaged"])(
  "a memory whose head has no life left can be deleted: %s",
  async (damage) => {
    const memoryId = randomUUID();
    await one.updateMessages(memoryId, update(null, 3, { owner: memoryId, append: inRows(1, 2) }));
    const Key = { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } };
    const values = damage.startsWith("SET") ? { ExpressionAttributeValues: { ":damaged": { L: [] } } } : {};
    await client.send(
      new UpdateItemCommand({ TableName: tableName, Key, UpdateExpression: damage, ...values }),
    );
    await expect(other.getMessages(memoryId)).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    await other.deleteMessages(memoryId);
    expect((await other.getMessages(memoryId)).version).toBeNull();
    await one.sweep();
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
    expect(await itemsBeside(client, tableName, memoryId)).toEqual([]);
  },
);

async function damageHead(memoryId: string, name: string, text: string): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } },
      UpdateExpression: "SET #n = :text",
      ExpressionAttributeNames: { "#n": name },
      ExpressionAttributeValues: { ":text": { S: text } },
    }),
  );
}

test.each(["x", "1-20000000"])(
  "a memory whose head does not say what is live is CORRUPT_RECORD: %s",
  async (text) => {
    const memoryId = randomUUID();
    await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
    await damageHead(memoryId, "live", text);
    const corrupt = { code: "CORRUPT_RECORD", details: { memoryId } };
    await expect(other.getMessages(memoryId)).rejects.toMatchObject(corrupt);
    await expect(other.getHistory(memoryId, {})).rejects.toMatchObject(corrupt);
  },
);

test("beside a head that does not say what is live nothing else is read, which could fail unheard", async () => {
  const memoryId = randomUUID();
  const data = JSON.stringify("x".repeat(1_000));
  await one.updateMessages(memoryId, update(null, 2, { append: [message(1)], data }));
  await damageHead(memoryId, "live", "x");
  const { client: recorded, sent } = recording(client);
  const call = dynamoStore({ client: recorded, tableName }).getMessages(memoryId);
  await expect(call).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
  expect(sent.map(({ operation }) => operation)).toEqual(["GetItem"]);
});

test("a sweep leaves a memory whose head cannot be read to who can restore it", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 3, { append: inRows(1, 2) });
  await one.updateMessages(memoryId, begin);
  const items = await itemsIn(client, tableName, `memory:${memoryId}`);
  const head = items.find(({ sk }) => sk?.S === "head") as Item;
  for (const lost of ["life", "count"]) {
    const { [lost]: _, ...damaged } = head;
    await client.send(new PutItemCommand({ TableName: tableName, Item: damaged }));
    await expect(other.getMessages(memoryId)).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    expect(await one.sweep()).toEqual({ removed: 0 });
  }
  await client.send(new PutItemCommand({ TableName: tableName, Item: head }));
  expect((await other.getMessages(memoryId)).messages).toEqual(begin.append);
});
