import { randomUUID } from "node:crypto";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { createChatMemories, createChatMemory } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { describe, expect, test } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import {
  canceled,
  dying,
  fault,
  inRows,
  interrupted,
  itemsBeside,
  itemsIn,
  newestBeside,
  useOwnTable,
  wrapped,
} from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];
const conflict = { code: "VERSION_CONFLICT" };

async function begun(memoryId: string, store: DynamoStore = one): Promise<string> {
  const begin = update(null, 5, { owner: memoryId, append: inRows(1, 4) });
  await store.updateMessages(memoryId, begin);
  return begin.version;
}

async function expectNothingOf(memoryId: string): Promise<void> {
  for (const partition of [`memory:${memoryId}`, `owner:${memoryId}`, `newest:owner:${memoryId}`]) {
    expect(await itemsIn(client, tableName, partition)).toEqual([]);
  }
  expect(await itemsBeside(client, tableName, memoryId)).toEqual([]);
  expect(await newestBeside(client, tableName, memoryId)).toEqual([]);
}

describe("a delete that expects a version", () => {
  test("deletes that version, and no other", async () => {
    const memoryId = randomUUID();
    const version = await begun(memoryId);
    const append = update(version, 6, { append: [message(5)] });
    await one.updateMessages(memoryId, append);
    const before = await itemsIn(client, tableName, `memory:${memoryId}`);
    await expect(other.deleteMessages(memoryId, { expected: version })).rejects.toMatchObject(conflict);
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual(before);
    await other.deleteMessages(memoryId, { expected: append.version });
    await expectNothingOf(memoryId);
    await other.deleteMessages(memoryId, { expected: append.version });
  });

  test.each<[string, (memoryId: string, version: string) => Promise<unknown>, boolean]>([
    ["an append", (id, version) => other.updateMessages(id, update(version, 5, { head: "2" })), true],
    [
      "a delete and a new beginning",
      async (id) => {
        await other.deleteMessages(id);
        await begun(id, other);
      },
      true,
    ],
    ["a delete", (id) => other.deleteMessages(id), false],
  ])("meets %s in between", async (_, meanwhile, isThere) => {
    const memoryId = randomUUID();
    const version = await begun(memoryId);
    const slow = dynamoStore({
      tableName,
      client: interrupted(client, "GetItem", () => meanwhile(memoryId, version)),
    });
    const call = slow.deleteMessages(memoryId, { expected: version });
    if (!isThere) await call;
    else await expect(call).rejects.toMatchObject(conflict);
    expect((await one.getMessages(memoryId)).messages).toEqual(isThere ? inRows(1, 4) : []);
  });

  test("finds an expired memory gone, whatever its version", async () => {
    const memoryId = randomUUID();
    const short = open({ ttlMs: 1 });
    await begun(memoryId, short);
    while ((await one.getMessages(memoryId)).version !== null);
    await one.deleteMessages(memoryId, { expected: "another" });
    expect((await one.getMessages(memoryId)).version).toBeNull();
  });

  test("deletes a memory whose head has lost its life", async () => {
    const memoryId = randomUUID();
    const version = await begun(memoryId);
    const Key = { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } };
    await client.send(new UpdateItemCommand({ TableName: tableName, Key, UpdateExpression: "REMOVE life" }));
    await expect(one.deleteMessages(memoryId, { expected: "another" })).rejects.toMatchObject(conflict);
    await one.deleteMessages(memoryId, { expected: version });
    expect((await one.getMessages(memoryId)).version).toBeNull();
    await one.sweep();
    await expectNothingOf(memoryId);
  });

  test("waits for a running transaction", async () => {
    const memoryId = randomUUID();
    const version = await begun(memoryId);
    let left = 3;
    const busy = wrapped(client, async ({ operation }, send) => {
      if (operation === "TransactWriteItems" && left-- > 0)
        throw canceled("TransactionConflict", "None", "None");
      return send();
    });
    await dynamoStore({ client: busy, tableName }).deleteMessages(memoryId, { expected: version });
    await expectNothingOf(memoryId);
  });
});

test.each([
  ["gets another owner", () => ({ owner: randomUUID() }), undefined],
  ["has its activity noted", () => ({ head: "2" }), 1],
])("a delete of a memory that %s in between leaves it in no listing", async (_, changeOf, activityMs) => {
  const memoryId = randomUUID();
  const version = await begun(memoryId);
  const change: { owner?: string; head?: string } = changeOf();
  const writer = open(activityMs === undefined ? {} : { activityMs });
  const meanwhile = () => writer.updateMessages(memoryId, update(version, 5, change));
  await dynamoStore({ tableName, client: interrupted(client, "GetItem", meanwhile) }).deleteMessages(
    memoryId,
  );
  await expectNothingOf(memoryId);
  expect(await itemsIn(client, tableName, `owner:${change.owner}`)).toEqual([]);
  expect(await itemsIn(client, tableName, `newest:owner:${change.owner}`)).toEqual([]);
});

test("a delete whose process dies anywhere is finished by the next delete, and harms no new life", async () => {
  for (let step = 1, isDone = false; !isDone; step++) {
    for (const beginsAnew of [false, true]) {
      const memoryId = randomUUID();
      await begun(memoryId);
      const store = dynamoStore({ client: dying(client, { step }), tableName });
      isDone = await store.deleteMessages(memoryId).then(
        () => true,
        () => false,
      );
      const { version } = await one.getMessages(memoryId);
      expect(version === null).toBe(step > 1);
      if (beginsAnew && version === null) {
        await other.updateMessages(memoryId, update(null, 3, { append: messages(1, 2) }));
        expect((await one.getMessages(memoryId)).messages).toEqual(messages(1, 2));
        await other.deleteMessages(memoryId);
        await other.sweep();
      } else await other.deleteMessages(memoryId);
      await expectNothingOf(memoryId);
    }
  }
});

test("a delete that is refused half-way does not say that nothing was written, and can be repeated", async () => {
  const memoryId = randomUUID();
  await begun(memoryId);
  let isDenied = true;
  const denying = wrapped(client, async ({ operation }, send) => {
    if (operation === "BatchWriteItem" && isDenied) throw fault("AccessDeniedException");
    return send();
  });
  const store = dynamoStore({ client: denying, tableName });
  await expect(store.deleteMessages(memoryId)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(/still stored.*Repeat the call/),
    cause: { code: "STORE_REFUSED" },
  });
  expect((await other.getMessages(memoryId)).version).toBeNull();
  isDenied = false;
  await store.deleteMessages(memoryId);
  await expectNothingOf(memoryId);
});

describe("a memory whose rows could not be deleted with its head", () => {
  /** A store whose first deletion of rows fails, once `meanwhile` is done. */
  function failingOnce(meanwhile = (): void => {}): DynamoStore {
    let hasFailed = false;
    const failing = wrapped(client, async ({ operation }, send) => {
      if (operation !== "BatchWriteItem" || hasFailed) return send();
      hasFailed = true;
      meanwhile();
      throw fault("InternalServerError", {}, 500);
    });
    return dynamoStore({ client: failing, tableName });
  }

  test.each<[string, (id: string, store: DynamoStore) => Promise<unknown>]>([
    ["clear()", (id, store) => createChatMemory({ id, store }).clear()],
    ["erase()", (id, store) => createChatMemories({ store }).erase({ owner: id })],
  ])("is gone with its rows when %s ends", async (_, remove) => {
    const memoryId = randomUUID();
    await begun(memoryId);
    await remove(memoryId, failingOnce());
    await expectNothingOf(memoryId);
  });

  test("loses them by the next clear()", async () => {
    const memoryId = randomUUID();
    await begun(memoryId);
    const caller = new AbortController();
    const store = failingOnce(() => caller.abort());
    const cleared = createChatMemory({ id: memoryId, store }).clear({ signal: caller.signal });
    await expect(cleared).rejects.toMatchObject({ code: "ABORTED" });
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).not.toEqual([]);
    await createChatMemory({ id: memoryId, store: one }).clear();
    await expectNothingOf(memoryId);
  });
});

test("a delete of a memory that is not there leaves alone what others are writing, and longer ids", async () => {
  const memoryId = randomUUID();
  const longer = `${memoryId}/b`;
  await begun(longer);
  await one.deleteMessages(memoryId);
  expect((await one.getMessages(longer)).messages).toEqual(inRows(1, 4));
  // Half of a beginning: the other half must find it.
  let isFirst = true;
  const paused = wrapped(client, async ({ operation }, send) => {
    const answer = await send();
    if (operation === "BatchWriteItem" && isFirst) {
      isFirst = false;
      await other.deleteMessages(memoryId);
    }
    return answer;
  });
  await begun(memoryId, dynamoStore({ client: paused, tableName }));
  expect((await one.getMessages(memoryId)).messages).toEqual(inRows(1, 4));
});
