import { randomUUID } from "node:crypto";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type {
  ChatMemoryStore,
  HistoryQuery,
  MemoryUpdate,
  MessageState,
  StoredMessage,
} from "@turnkeep/core";
import { unreadableMessage } from "@turnkeep/core/store-kit";
import { changed, type Kept, liveOf, message, messages, update } from "@turnkeep/store-tests";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { type Item, idsStored, interrupted, itemsIn, sized, useOwnTable, wrapped } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

const seqsOf = (page: { messages: readonly { seq: number }[] }): number[] =>
  page.messages.map(({ seq }) => seq);

/**
 * A query is not isolated from a transaction: it may see some of its items and not others. A store whose queries miss
 * these until it has read the head twice.
 */
function halfWithout(isMissed: (item: Item) => boolean) {
  let heads = 0;
  const half = wrapped(client, async ({ operation }, send) => {
    const answer = (await send()) as { Items?: Item[] };
    if (operation === "GetItem") heads++;
    if (operation !== "Query" || heads > 1) return answer;
    return { ...answer, Items: answer.Items?.filter((item) => !isMissed(item)) };
  });
  return { store: dynamoStore({ client: half, tableName }), heads: () => heads };
}

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
      client: interrupted(client, "GetItem", async () => {
        await other.updateMessages(memoryId, next);
        const items = await itemsIn(client, tableName, `memory:${memoryId}`);
        moved = items.filter(({ rows }) => rows).length === 3;
      }),
    });
    expect(await read(slow, memoryId)).toEqual(seqs);
    expect(moved).toBe(true);
    expect((await read(slow, memoryId)).filter((seq) => seq !== 5)).toEqual(seqs);
  });

  test.each<[string, HistoryQuery, number[]]>([
    ["all", {}, [1, 2, 3, 4, 5, 6]],
    ["the oldest", { limit: 2 }, [1, 2]],
    ["what has left", { states: ["evicted"] }, [1, 2, 3]],
    ["what is behind one", { after: 1, limit: 2 }, [2, 3]],
    ["from the end", { order: "descending" }, [6, 5, 4, 3, 2, 1]],
    ["what is before one that has left", { order: "descending", before: 3 }, [2, 1]],
    ["the ids of what has left", { ids: ["m2", "m3"] }, [2, 3]],
  ])("are there for who reads %s of history before their row shows", async (_, query, seqs) => {
    for (const marks of [false, true]) {
      const memoryId = randomUUID();
      const begin = update(null, 6, { append: messages(1, 5) });
      await one.updateMessages(memoryId, begin);
      const move = [1, 2, 3].map((seq) => ({ seq, to: "evicted" as const }));
      const moving = update(begin.version, 7, { append: [sized(6, 3_000)], move });
      await one.updateMessages(memoryId, moving);
      // What only marks messages says still which rows were made last.
      const marking = update(moving.version, 7, { move: [{ seq: 5, to: "superseded" }] });
      if (marks) await one.updateMessages(memoryId, marking);
      const half = halfWithout(({ rows }) => rows?.S?.includes('"m3"') === true);
      expect(seqsOf(await half.store.getHistory(memoryId, query))).toEqual(seqs);
      expect(half.heads()).toBe(2);
    }
  });

  test("show as superseded to who reads history before the mark shows that says so", async () => {
    for (const append of [messages(1, 3), [...messages(1, 2), sized(3, 3_000)]]) {
      const memoryId = randomUUID();
      const begin = update(null, 4, { append });
      await one.updateMessages(memoryId, begin);
      const move = [{ seq: 2, to: "superseded" as const }];
      const mark = update(begin.version, 4, { move });
      await one.updateMessages(memoryId, mark);
      // What marks nothing itself says still which marks the last one made.
      await one.updateMessages(memoryId, update(mark.version, 4, { head: "{}" }));
      for (const states of [["superseded"], ["live", "superseded"]] as MessageState[][]) {
        const half = halfWithout(({ add }) => add !== undefined);
        expect((await half.store.getHistory(memoryId, { states })).messages).toContainEqual({
          ...message(2),
          state: "superseded",
        });
        expect(half.heads()).toBe(2);
      }
    }
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

test("a memory whose messages are removed as others come has no more items than at first", async () => {
  const memoryId = randomUUID();
  const sizes: number[] = [];
  let version: string | null = null;
  for (let seq = 1; seq <= 40; seq++) {
    const move = seq > 10 ? [{ seq: seq - 10, to: "removed" as const }] : [];
    const next: MemoryUpdate = update(version, seq + 1, { append: [sized(seq, 1_000)], move });
    await one.updateMessages(memoryId, next);
    version = next.version;
    sizes.push((await itemsIn(client, tableName, `memory:${memoryId}`)).length);
  }
  expect(sizes.at(-1)).toBeLessThanOrEqual(Math.max(...sizes.slice(10, 20)));
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
  const seen = [begin.append[0], message(2), unreadableMessage(3, "m3"), message(4)];
  expect((await other.getMessages(memoryId)).messages).toEqual(seen);
  expect(seqsOf(await other.getHistory(memoryId, {}))).toEqual([1, 2, 3, 4]);
  expect(seqsOf(await other.getHistory(memoryId, { before: 3 }))).toEqual([1, 2]);
  expect(seqsOf(await other.getHistory(memoryId, { limit: 1 }))).toEqual([1]);
  expect(seqsOf(await other.getHistory(memoryId, { after: 3 }))).toEqual([4]);
});

/** Of a row of messages without its parts, or of a mark: what a transaction writes beside the head. */
const isInTransaction = ({ sk, count, add }: Item): boolean =>
  add !== undefined || (sk?.S !== "head" && count !== undefined);

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
  let heads = 0;
  /** Items that the next query of any of them does not show yet, as may be in a transaction that has just been made. */
  const late = new Set<string | undefined>();
  const watched = wrapped(client, async ({ operation }, send) => {
    if (operation === "GetItem") heads++;
    const answer = (await send()) as { Items?: Item[] };
    if (operation !== "Query" || !answer.Items?.some(({ sk }) => late.has(sk?.S))) return answer;
    const Items = answer.Items.filter(({ sk }) => !late.has(sk?.S));
    late.clear();
    return { ...answer, Items };
  });
  const reader = dynamoStore({ tableName, client: watched });
  const keysOf = async (memoryId: string): Promise<(string | undefined)[]> => {
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    return items.filter(isInTransaction).map(({ sk }) => sk?.S);
  };
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
    const memoryId = randomUUID();
    let kept: Kept[] = [];
    let [version, nextSeq]: [string | null, number] = [null, 1];
    for (const [count, { sizes, replace, move }] of steps.entries()) {
      const append = sizes.map((bytes) => sized(nextSeq++, bytes));
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
      const change: MemoryUpdate = update(version, nextSeq, {
        append,
        replace: [...replaced.values()],
        move: [...moved].map(([seq, to]) => ({ seq, to })),
      });
      const keysBefore = await keysOf(memoryId);
      await (count % 2 === 0 ? one : other).updateMessages(memoryId, change);
      version = change.version;
      const keysNew = (await keysOf(memoryId)).filter((key) => !keysBefore.includes(key));

      kept = changed(kept, change);
      const before = Math.ceil(nextSeq / 2);
      const older = kept.filter(({ seq }) => seq < before).reverse();
      const some = kept.filter((_, at) => at % 3 === 0);
      const pages: [HistoryQuery, Kept[]][] = [
        [{}, kept],
        [{ order: "descending", before, limit: 2 }, older.slice(0, 2)],
        [{ order: "descending", limit: 3 }, [...kept].reverse().slice(0, 3)],
        [{ after: before, limit: 2 }, kept.filter(({ seq }) => seq > before).slice(0, 2)],
        [{ ids: some.map(({ id }) => id) }, some],
      ];
      for (const hidden of [[], keysNew]) {
        heads = 0;
        const lateNow = (): void => hidden.forEach((key) => void late.add(key));
        lateNow();
        expect((await reader.getMessages(memoryId)).messages).toEqual(liveOf(kept));
        for (const [query, page] of pages) {
          lateNow();
          expect((await reader.getHistory(memoryId, query)).messages).toEqual(page);
        }
        // Nobody writes meanwhile: where all is shown, each read is made once.
        if (hidden.length === 0) expect(heads).toBe(1 + pages.length);
        late.clear();
      }
      expect(await idsStored(client, tableName, memoryId)).toEqual(kept.map(({ id }) => id).sort());
    }
    await one.deleteMessages(memoryId);
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
  });
  await fc.assert(property, { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 5) });
}, 300_000);
