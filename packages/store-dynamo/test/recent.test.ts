import { randomUUID } from "node:crypto";
import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { ChatMemoryStore, HistoryPage, MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { idsStored, itemsIn, newClient, newTable, newTableName, wrapped } from "./support.ts";

const url = inject("dynamoUrl");
const tableName = newTableName();
let client: DynamoDBClient;
let one: ChatMemoryStore;
let other: ChatMemoryStore;

beforeAll(async () => {
  await newTable(url, { tableName });
  client = newClient(url);
  one = dynamoStore({ url, tableName });
  other = dynamoStore({ url, tableName });
});
afterAll(async () => {
  await Promise.all([one.close(), other.close()]);
  client.destroy();
});

function sized(seq: number, bytes: number, letter = "x"): StoredMessage {
  return message(seq, `"${letter.repeat(bytes)}"`);
}

const seqsOf = (page: { messages: readonly { seq: number }[] }): number[] =>
  page.messages.map(({ seq }) => seq);

describe("an update that names messages in more rows than a transaction takes", () => {
  const rows = 130;

  async function begun(memoryId: string): Promise<MemoryUpdate> {
    let last = update(null, 2, { append: [sized(1, 4_000)] });
    await one.updateMessages(memoryId, last);
    for (let seq = 2; seq <= rows; seq++) {
      const move = [{ seq: seq - 1, to: "evicted" as const }];
      last = update(last.version, seq + 1, { append: [sized(seq, 4_000)], move });
      await one.updateMessages(memoryId, last);
    }
    expect((await itemsIn(client, tableName, `memory:${memoryId}`)).filter(({ rows }) => rows)).toHaveLength(
      rows,
    );
    return last;
  }

  test("brings them all back at once", async () => {
    const memoryId = randomUUID();
    const { version } = await begun(memoryId);
    const move = Array.from({ length: rows - 1 }, (_, index) => ({ seq: index + 1, to: "live" as const }));
    await one.updateMessages(memoryId, update(version, rows + 1, { move }));
    expect(seqsOf(await other.getMessages(memoryId))).toEqual(messages(1, rows).map(({ seq }) => seq));
  });

  test("is refused whole where it would write them all", async () => {
    const memoryId = randomUUID();
    const { version } = await begun(memoryId);
    const move = Array.from({ length: rows - 1 }, (_, index) => ({ seq: index + 1, to: "removed" as const }));
    const change = update(version, rows + 1, { move });
    await expect(one.updateMessages(memoryId, change)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect((await other.getMessages(memoryId)).version).toBe(version);
    expect((await other.getHistory(memoryId, { limit: 1_000 })).messages).toHaveLength(rows);
  });
});

describe("messages that move out of the head", () => {
  /** A memory with two rows, and two messages in its head. */
  async function begun(memoryId: string): Promise<MemoryUpdate> {
    const begin = update(null, 3, { append: [sized(1, 3_000), sized(2, 3_000)] });
    await one.updateMessages(memoryId, begin);
    const more = update(begin.version, 5, { append: messages(3, 4), move: [{ seq: 1, to: "evicted" }] });
    await one.updateMessages(memoryId, more);
    expect((await itemsIn(client, tableName, `memory:${memoryId}`)).filter(({ rows }) => rows)).toHaveLength(
      2,
    );
    return more;
  }

  const reads: [
    name: string,
    read: (store: ChatMemoryStore, id: string) => Promise<number[]>,
    seqs: number[],
  ][] = [
    ["the live ones", async (store, id) => seqsOf(await store.getMessages(id)), [2, 3, 4]],
    ["history", async (store, id) => seqsOf(await store.getHistory(id, {})), [1, 2, 3, 4]],
    [
      "history from its end",
      async (store, id) => seqsOf(await store.getHistory(id, { order: "descending" })),
      [4, 3, 2, 1],
    ],
    [
      "history before one of them",
      async (store, id) => seqsOf(await store.getHistory(id, { order: "descending", before: 4 })),
      [3, 2, 1],
    ],
    ["their ids", async (store, id) => seqsOf(await store.getHistory(id, { ids: ["m4", "m2"] })), [2, 4]],
  ];

  test.each(reads)("are there once for who reads %s meanwhile", async (_, read, seqs) => {
    const memoryId = randomUUID();
    const { version } = await begun(memoryId);
    const next = update(version, 6, { append: [sized(5, 3_000)] });
    let moved = false;
    const slow = dynamoStore({
      tableName,
      client: wrapped(client, async ({ operation }, send) => {
        const answer = await send();
        if (operation === "GetItem" && !moved) {
          moved = true;
          await other.updateMessages(memoryId, next);
          expect(
            (await itemsIn(client, tableName, `memory:${memoryId}`)).filter(({ rows }) => rows),
          ).toHaveLength(3);
        }
        return answer;
      }),
    });
    expect(await read(slow, memoryId)).toEqual(seqs);
    expect(moved).toBe(true);
    expect((await read(slow, memoryId)).filter((seq) => seq !== 5)).toEqual(seqs);
  });

  test("show once to readers that never wait", async () => {
    const memoryId = randomUUID();
    let version: string | null = null;
    let writing = true;
    const write = async (): Promise<void> => {
      for (let seq = 1; seq <= 60; seq++) {
        const move = seq > 20 ? [{ seq: seq - 20, to: "evicted" as const }] : [];
        const change: MemoryUpdate = update(version, seq + 1, { append: [sized(seq, 400)], move });
        await one.updateMessages(memoryId, change);
        version = change.version;
      }
      writing = false;
    };
    const follow = (from: number, count: number): number[] =>
      Array.from({ length: count }, (_, n) => from + n);
    const read = async (): Promise<void> => {
      while (writing) {
        const { nextSeq, messages: live } = await other.getMessages(memoryId);
        const count = Math.min(nextSeq - 1, 20);
        expect(live.map(({ seq }) => seq)).toEqual(follow(nextSeq - count, count));
        const all = seqsOf(await other.getHistory(memoryId, {}));
        expect(all).toEqual(follow(1, all.length));
        const newest = seqsOf(await other.getHistory(memoryId, { order: "descending", limit: 9 }));
        expect(newest.toReversed()).toEqual(follow(newest.at(-1) ?? 1, newest.length));
      }
    };
    await Promise.all([write(), read()]);
    expect(await idsStored(client, tableName, memoryId)).toHaveLength(60);
  });
});

test("a damaged message in the head is named, and does not hide the others", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [sized(1, 4_000)] });
  await one.updateMessages(memoryId, begin);
  await one.updateMessages(memoryId, update(begin.version, 5, { append: messages(2, 4) }));
  const items = await itemsIn(client, tableName, `memory:${memoryId}`);
  const recent = items.find(({ sk }) => sk?.S === "head")?.recent?.S ?? "";
  const damaged = recent.replace(/^(.*"m3",).*$/m, "$1");
  expect(damaged).not.toBe(recent);
  await client.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } },
      UpdateExpression: "SET recent = :recent",
      ExpressionAttributeValues: { ":recent": { S: damaged } },
    }),
  );
  const named = { code: "CORRUPT_RECORD", details: { memoryId, messageIds: ["m3"] } };
  await expect(other.getMessages(memoryId)).rejects.toMatchObject(named);
  await expect(other.getHistory(memoryId, {})).rejects.toMatchObject(named);
  expect(seqsOf(await other.getHistory(memoryId, { before: 3 }))).toEqual([1, 2]);
  expect(seqsOf(await other.getHistory(memoryId, { after: 3 }))).toEqual([4]);
});

type Kept = HistoryPage["messages"][number];
type Step = { sizes: number[]; replace: [number, number][]; move: [number, MessageState | "removed"][] };

test("random sequences of small and large messages leave what a model holds", async () => {
  // On both sides of what the head holds in all, of what a row shares, and of what a row holds.
  const size = fc.constantFrom(10, 200, 900, 1_500, 2_900, 3_100, 4_200, 33_000);
  const index = fc.nat(30);
  const state = fc.constantFrom<MessageState | "removed">("live", "evicted", "superseded", "removed");
  const step: fc.Arbitrary<Step> = fc.record({
    sizes: fc.array(size, { maxLength: 4 }),
    replace: fc.array(fc.tuple(index, size), { maxLength: 2 }),
    move: fc.array(fc.tuple(index, state), { maxLength: 3 }),
  });
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
    const memoryId = randomUUID();
    const model = new Map<number, Kept>();
    let [version, nextSeq]: [string | null, number] = [null, 1];
    for (const [count, { sizes, replace, move }] of steps.entries()) {
      const append = sizes.map((bytes) => sized(nextSeq++, bytes));
      const kept = [...model.values()];
      const live = kept.filter((one) => one.state === "live");
      const replaced = new Map<number, StoredMessage>();
      for (const [at, bytes] of replace) {
        const { seq } = live[at % live.length] ?? { seq: 0 };
        if (seq > 0) replaced.set(seq, sized(seq, bytes, String(count)));
      }
      const moved = new Map<number, MessageState | "removed">();
      const all = [...kept, ...append];
      for (const [at, to] of move) {
        const { seq } = all[at % all.length] ?? { seq: 0 };
        if (seq > 0) moved.set(seq, to);
      }
      for (const one of [...append, ...replaced.values()]) model.set(one.seq, { ...one, state: "live" });
      for (const [seq, to] of moved) {
        const one = model.get(seq);
        if (to === "removed") model.delete(seq);
        else if (one !== undefined) one.state = to;
      }
      const change: MemoryUpdate = update(version, nextSeq, {
        append,
        replace: [...replaced.values()],
        move: [...moved].map(([seq, to]) => ({ seq, to })),
      });
      await (count % 2 === 0 ? one : other).updateMessages(memoryId, change);
      version = change.version;

      const expected = [...model.values()].sort((a, b) => a.seq - b.seq);
      const shown = expected.flatMap(({ state, ...rest }) => (state === "live" ? [rest] : []));
      expect((await other.getMessages(memoryId)).messages).toEqual(shown);
      expect((await one.getHistory(memoryId, {})).messages).toEqual(expected);
      const before = Math.ceil(nextSeq / 2);
      const page = await one.getHistory(memoryId, { order: "descending", before, limit: 2 });
      expect(page.messages).toEqual(
        expected
          .filter(({ seq }) => seq < before)
          .reverse()
          .slice(0, 2),
      );
      const ids = expected.filter((_, at) => at % 3 === 0).map(({ id }) => id);
      expect((await one.getHistory(memoryId, { ids })).messages.map(({ id }) => id)).toEqual(ids);
      expect(await idsStored(client, tableName, memoryId)).toEqual(expected.map(({ id }) => id).sort());
    }
    await one.deleteMessages(memoryId);
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
  });
  await fc.assert(property, { numRuns: 15 });
}, 300_000);
