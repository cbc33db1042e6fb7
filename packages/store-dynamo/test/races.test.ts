import { randomUUID } from "node:crypto";
import type { StoredMessage } from "@turnkeep/core";
import { appendUntilDone, message, messages, update } from "@turnkeep/store-tests";
import { describe, expect, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { type Item, idsStored, interrupted, itemsBeside, itemsIn, useOwnTable, wrapped } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

test("30 concurrent optimistic appends by two clients all land, once and in one order", async () => {
  const memoryId = randomUUID();
  const ids = Array.from({ length: 30 }, (_, index) => `message ${index}`);
  await Promise.all(ids.map((id, index) => appendUntilDone(index % 2 === 0 ? one : other, memoryId, id)));
  const [seen, alsoSeen] = await Promise.all([one, other].map((store) => store.getMessages(memoryId)));
  expect(seen).toEqual(alsoSeen);
  expect(seen?.messages.map(({ id }) => id).sort()).toEqual(ids.sort());
  expect(seen?.messages.map(({ seq }) => seq)).toEqual(ids.map((_, index) => index + 1));
  // Those who lost have left nothing behind.
  expect(await idsStored(client, tableName, memoryId)).toEqual(ids.sort());
});

test("of many who begin an expired memory anew, one does, and a sweep leaves nothing of the old life", async () => {
  const memoryId = randomUUID();
  const short = open({ ttlMs: 1 });
  await short.updateMessages(memoryId, update(null, 4, { head: "1", owner: "old", append: messages(1, 3) }));
  while ((await one.getMessages(memoryId)).version !== null);
  const again = { ...message(1), id: "new life" };
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
  expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
  expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
  expect(await one.sweep()).toEqual({ removed: 1 });
  expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toHaveLength(1);
  expect(await itemsBeside(client, tableName, memoryId)).toHaveLength(1);
});

test("a memory that began again where one had expired is listed once, before any sweep", async () => {
  const owner = "of two lives";
  const [short, long] = [open({ ttlMs: 1 }), open()];
  await short.updateMessages("two lives", update(null, 2, { owner, append: [message(1)] }));
  while ((await long.getMessages("two lives")).version !== null);
  await long.updateMessages("two lives", update(null, 2, { owner, append: [message(1)] }));
  for (const query of [{ owner }, {}]) {
    const listed = (await long.listMemories(query)).memories.filter(
      ({ memoryId }) => memoryId === "two lives",
    );
    expect(listed).toHaveLength(1);
  }
  await long.deleteMessages("two lives");
  expect(await long.sweep()).toEqual({ removed: 1 });
});

test("a head that the table's own expiry took leaves a memory absent, and a sweep removes the rest", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 3, { owner: memoryId, append: messages(1, 2) }));
  const { DeleteItemCommand } = await import("@aws-sdk/client-dynamodb");
  const Key = { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } };
  await client.send(new DeleteItemCommand({ TableName: tableName, Key }));
  expect((await one.getMessages(memoryId)).version).toBeNull();
  expect((await one.listMemories({ owner: memoryId })).memories).toEqual([]);
  const again = update(null, 2, { owner: memoryId, append: [{ ...message(1), id: "later life" }] });
  await other.updateMessages(memoryId, again);
  expect((await one.getHistory(memoryId, {})).messages.map(({ id }) => id)).toEqual(["later life"]);
  expect(await one.sweep()).toEqual({ removed: 1 });
  expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toHaveLength(1);
  expect((await one.listMemories({ owner: memoryId })).memories).toHaveLength(1);
});

test("a delete that comes late does not meet the next life", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  const slow = dynamoStore({
    tableName,
    client: interrupted(client, "GetItem", async () => {
      await one.deleteMessages(memoryId);
      await one.updateMessages(memoryId, update(null, 2, { append: [message(1, '"next life"')] }));
    }),
  });
  await slow.deleteMessages(memoryId);
  expect((await one.getMessages(memoryId)).messages).toEqual([message(1, '"next life"')]);
});

/** Too much for the head: each in a row of its own. */
function inRows(from: number, to: number): StoredMessage[] {
  return messages(from, to).map(({ seq }) => message(seq, `"${"x".repeat(3_000)}"`));
}

describe("a read that meets an update", () => {
  /** Reads the head, then lets an update take place before the messages are read. */
  test("is repeated: after a replacement, an append with an eviction, a removal, moving out, a staged one", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 5, { head: "0", append: inRows(1, 4) });
    await one.updateMessages(memoryId, begin);
    const large = `"${"x".repeat(500_000)}"`;
    let { version, nextSeq } = begin;
    for (const change of [
      { append: [], replace: [message(2, '"new"')] },
      { append: [message(5)], replace: [message(3, '"new"')], move: [{ seq: 1, to: "evicted" as const }] },
      { append: [], move: [{ seq: 2, to: "removed" as const }] },
      { append: inRows(6, 6), replace: [message(3, '"newer"')] },
      { append: [message(7, large)], replace: [message(4, large)] },
    ]) {
      const next = update(version, nextSeq + change.append.length, { ...change, head: "next" });
      const tearing = dynamoStore({
        tableName,
        client: interrupted(client, "GetItem", () => one.updateMessages(memoryId, next)),
      });
      const seen = await tearing.getMessages(memoryId);
      expect(seen).toEqual(await other.getMessages(memoryId));
      // What only leaves memory harms no reader of the state before.
      expect([version, next.version]).toContain(seen.version);
      ({ version, nextSeq } = next);
    }
  });

  test("is repeated when the head is newer than messages that are still to be changed", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 3, { append: inRows(1, 2) });
    await one.updateMessages(memoryId, begin);
    const stale: { Items?: Item[] }[] = [];
    let asked = 0;
    const tearing = dynamoStore({
      tableName,
      client: wrapped(client, async ({ operation }, send) => {
        const answer = (await send()) as { Items?: Item[] };
        if (operation !== "Query") return answer;
        stale.push(answer);
        asked++;
        // The second read gets the new head, and once more the messages as they were.
        return asked === 2 ? stale[0] : answer;
      }),
    });
    await tearing.getMessages(memoryId);
    const change = update(begin.version, 3, { replace: [message(1, '"new"')] });
    await one.updateMessages(memoryId, change);
    const seen = await tearing.getMessages(memoryId);
    expect(seen).toMatchObject({ version: change.version, messages: [message(1, '"new"'), ...inRows(2, 2)] });
    expect(asked).toBe(3);
  });

  test("says so when a message is lost for good", async () => {
    const memoryId = randomUUID();
    await one.updateMessages(memoryId, update(null, 4, { append: inRows(1, 3) }));
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    const lost = items.find(({ rows }) => rows?.S?.includes('"m2"')) as Item;
    const { DeleteItemCommand } = await import("@aws-sdk/client-dynamodb");
    const Key = { pk: lost.pk as Item[string], sk: lost.sk as Item[string] };
    await client.send(new DeleteItemCommand({ TableName: tableName, Key }));
    await expect(one.getMessages(memoryId)).rejects.toMatchObject({
      code: "CORRUPT_RECORD",
      details: { memoryId },
      message: expect.stringContaining("seq 2"),
    });
    expect((await one.getHistory(memoryId, {})).messages.map(({ id }) => id)).toEqual(["m1", "m3"]);
  });
});

test("readers meet all of an update or none", async () => {
  const memoryId = randomUUID();
  let version: string | null = null;
  let writing = true;
  const write = async (): Promise<void> => {
    for (let from = 1; from <= 120; from += 4) {
      const change = update(version, from + 4, {
        head: `${from}`,
        append: messages(from, from + 3),
        move:
          from === 1 ? [] : messages(from - 4, from - 1).map(({ seq }) => ({ seq, to: "removed" as const })),
      });
      await one.updateMessages(memoryId, change);
      version = change.version;
    }
    writing = false;
  };
  const read = async (): Promise<void> => {
    while (writing) {
      const { head, messages: seen } = await other.getMessages(memoryId);
      if (head !== undefined)
        expect(seen.map(({ seq }) => seq)).toEqual([0, 1, 2, 3].map((n) => Number(head) + n));
    }
  };
  await Promise.all([write(), read(), read()]);
});
