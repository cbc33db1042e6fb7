import { randomUUID } from "node:crypto";
import { createChatMemory, entry, user } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openRecorded, type RecordingClient } from "./support.ts";

let pool: pg.Pool;
let client: RecordingClient;
let store: PostgresStore;
let memoryId: string;

beforeAll(async () => {
  ({ pool, client, store } = await openRecorded(await newDatabase()));
});
afterAll(() => pool.end());
beforeEach(() => {
  memoryId = randomUUID();
});

const lost = (seq: number) => ({ id: `turnkeep:lost:${seq}`, seq, createdAt: 0, payload: "" });

/** Ten messages, of which 1 to 3 were evicted and 4 superseded, and then these rows were deleted by somebody. */
async function memoryWithout(...seqs: number[]): Promise<string> {
  const begin = update(null, 11, {
    append: messages(1, 10),
    move: [
      ...[1, 2, 3].map((seq) => ({ seq, to: "evicted" as const })),
      { seq: 4, to: "superseded" as const },
    ],
  });
  await store.updateMessages(memoryId, begin);
  await lose(...seqs);
  return begin.version;
}

async function lose(...seqs: number[]): Promise<void> {
  await pool.query(
    `delete from turnkeep_messages m using turnkeep_memories h
     where h.memory_id = $1 and h.memory_key = m.memory_key and m.seq = any ($2)`,
    [memoryId, seqs],
  );
}

async function liveSeqs(): Promise<number[]> {
  return (await store.getMessages(memoryId)).messages.map(({ seq }) => seq);
}

test("what is lost of the live messages stands in its place; of others there is no trace", async () => {
  const version = await memoryWithout(2, 4, 5, 8, 10);
  const live = [lost(5), ...messages(6, 7), lost(8), message(9), lost(10)];
  expect(await store.getMessages(memoryId)).toEqual({ version, nextSeq: 11, messages: live });
  expect(await store.getMessages(memoryId, { known: version })).toMatchObject({ unchanged: true });
  expect((await store.getHistory(memoryId, {})).messages.map(({ seq, state }) => `${seq} ${state}`)).toEqual([
    ...["1 evicted", "3 evicted"],
    ...[5, 6, 7, 8, 9, 10].map((seq) => `${seq} live`),
  ]);
});

test("pages of any size, order and state have each once, also where none is left", async () => {
  await memoryWithout(1, 5, 6, 7, 9, 10);
  const all = [2, 3, 4, 5, 6, 7, 8, 9, 10];
  for (const [states, expected] of [
    [undefined, all],
    [["live"], all.slice(3)],
    [["live", "superseded"], all.slice(2)],
    [["evicted"], [2, 3]],
  ] as const) {
    for (const order of ["ascending", "descending"] as const) {
      for (const limit of [1, 2, 3, 100]) {
        const seen: number[] = [];
        for (let hasMore = true; hasMore; ) {
          const edge = seen.at(-1);
          const rest = edge === undefined ? {} : order === "ascending" ? { after: edge } : { before: edge };
          const query = { ...(states && { states: [...states] }), ...rest, order, limit };
          const page = await store.getHistory(memoryId, query);
          expect(page.messages.length).toBeLessThanOrEqual(limit);
          seen.push(...page.messages.map(({ seq }) => seq));
          ({ hasMore } = page);
        }
        expect(seen).toEqual(order === "ascending" ? expected : [...expected].reverse());
      }
    }
  }
  expect((await store.getHistory(memoryId, { after: 4, before: 7 })).messages.map(({ seq }) => seq)).toEqual([
    5, 6,
  ]);
});

test("an id that stands in for a lost message finds it, and only while it is lost", async () => {
  await memoryWithout(5);
  const ids = ["turnkeep:lost:5", "turnkeep:lost:6", "turnkeep:lost:1", "turnkeep:lost:x", "m6"];
  const found = await store.getHistory(memoryId, { ids });
  expect(found.messages).toEqual([
    { ...lost(5), state: "live" },
    { ...message(6), state: "live" },
  ]);
  expect((await store.getHistory(memoryId, { ids, states: ["evicted"] })).messages).toEqual([]);
  expect((await store.getHistory(memoryId, { ids, after: 5 })).messages).toHaveLength(1);
});

test.each(["evicted", "superseded", "removed"] as const)(
  "a lost message can be %s beside others",
  async (to) => {
    const version = await memoryWithout(5, 8);
    const move = [5, 6].map((seq) => ({ seq, to }));
    const change = update(version, 12, { append: [message(11)], move });
    await store.updateMessages(memoryId, change);
    // Sent twice, it is one.
    await store.updateMessages(memoryId, change);
    expect(await liveSeqs()).toEqual([7, 8, 9, 10, 11]);
    const { messages: kept } = await store.getHistory(memoryId, { states: ["evicted", "superseded"] });
    expect(kept.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, ...(to === "removed" ? [] : [6])]);
  },
);

test("a lost message can be replaced, and what comes back with the others is whole", async () => {
  const version = await memoryWithout(5, 6, 7);
  const change = update(version, 11, {
    replace: [5, 6, 9].map((seq) => ({ ...(seq === 9 ? message(9) : lost(seq)), payload: `"new ${seq}"` })),
    move: [
      { seq: 6, to: "superseded" },
      { seq: 7, to: "live" },
      { seq: 1, to: "live" },
    ],
  });
  await store.updateMessages(memoryId, change);
  const { messages: live } = await store.getMessages(memoryId);
  expect(live.map(({ seq, payload }) => [seq, payload])).toEqual([
    [1, message(1).payload],
    [5, '"new 5"'],
    [7, ""],
    [8, message(8).payload],
    [9, '"new 9"'],
    [10, message(10).payload],
  ]);
  expect((await store.getHistory(memoryId, { states: ["superseded"] })).messages).toMatchObject([
    { seq: 4 },
    { seq: 6, payload: '"new 6"' },
  ]);
});

test("where nothing is lost, nothing is sent for it; where something is, three statements", async () => {
  const version = await memoryWithout(5);
  const sent = async (call: () => Promise<unknown>): Promise<number> => {
    const before = client.statements.length;
    await call();
    return client.statements.length - before;
  };
  expect(await sent(() => store.getMessages(memoryId))).toBe(1);
  expect(await sent(() => store.getHistory(memoryId, {}))).toBe(1);
  const append = update(version, 12, { append: [message(11)], move: [{ seq: 5, to: "evicted" }] });
  expect(await sent(() => store.updateMessages(memoryId, append))).toBe(1);
  await lose(6);
  const move = [{ seq: 6, to: "removed" as const }];
  expect(await sent(() => store.updateMessages(memoryId, update(append.version, 12, { move })))).toBe(3);
});

test("a memory tells a lost message by its id, goes on beside it, and removes it", async () => {
  const open = () => createChatMemory({ id: memoryId, store });
  for (let n = 1; n <= 4; n++) await open().add(entry(user(`question ${n}`), { id: `q${n}` }));
  await lose(3);
  const corrupt = { code: "CORRUPT_RECORD", details: { memoryId, messageIds: ["turnkeep:lost:3"] } };
  await expect(open().messages()).rejects.toMatchObject(corrupt);
  await open().add(entry(user("question 5"), { id: "q5" }));
  expect((await open().history()).messages.map(({ id }) => id)).toEqual(["q1", "q2", "q4", "q5"]);
  await open().remove("turnkeep:lost:3");
  expect((await open().messages()).map(({ content }) => content)).toEqual(
    [1, 2, 4, 5].map((n) => `question ${n}`),
  );
});
