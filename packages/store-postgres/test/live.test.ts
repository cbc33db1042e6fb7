import { randomUUID } from "node:crypto";
import type { HistoryQuery, MessageState, StoredMessage } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openRecorded } from "./support.ts";

let pool: pg.Pool;
let store: PostgresStore;
let memoryId: string;

beforeAll(async () => {
  ({ pool, store } = await openRecorded(await newDatabase()));
});
afterAll(() => pool.end());
beforeEach(() => {
  memoryId = randomUUID();
});

type Kept = StoredMessage & { state: MessageState };

/** All pages of that many messages. */
async function pagesOf(query: HistoryQuery, limit: number): Promise<Kept[]> {
  const found: Kept[] = [];
  for (;;) {
    const edge = found.at(-1)?.seq;
    const rest = edge === undefined ? {} : query.order === "descending" ? { before: edge } : { after: edge };
    const page = await store.getHistory(memoryId, { ...query, ...rest, limit });
    found.push(...page.messages);
    if (!page.hasMore) return found;
  }
}

/** What live messages leave as ranges in the head, as the database writes them. */
async function ranges(): Promise<string> {
  const found = await pool.query("select live::text from turnkeep_memories where memory_id = $1", [memoryId]);
  return found.rows[0].live;
}

const states: readonly MessageState[] = ["live", "evicted", "superseded"];
const targets = [...states, "removed"] as const;

const change = fc.record({
  append: fc.integer({ min: 0, max: 6 }),
  skipped: fc.integer({ min: 0, max: 2 }),
  move: fc.uniqueArray(fc.tuple(fc.nat(), fc.constantFrom(...targets)), { maxLength: 12 }),
  replace: fc.uniqueArray(fc.nat(), { maxLength: 2 }),
});

test("whatever leaves, comes back, is replaced or removed, reads and pages by any states show it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 20, max: 60 }),
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.subarray([...states]),
      async (length, changes, wanted) => {
        memoryId = randomUUID();
        const model = new Map<number, Kept>();
        for (const one of messages(1, length)) model.set(one.seq, { ...one, state: "live" });
        const begin = update(null, length + 1, { append: messages(1, length) });
        await store.updateMessages(memoryId, begin);
        let { version, nextSeq } = begin;
        for (const { append, skipped, move, replace } of changes) {
          const first = nextSeq + skipped;
          const added = append === 0 ? [] : messages(first, first + append - 1);
          const before = [...model.values()];
          for (const one of added) model.set(one.seq, { ...one, state: "live" });
          const live = before.filter(({ state }) => state === "live");
          const replaced = new Map<number, StoredMessage>();
          for (const at of live.length === 0 ? [] : replace) {
            const { state: _, ...old } = live[at % live.length] as Kept;
            replaced.set(old.seq, { ...old, payload: `"changed in ${nextSeq}"` });
          }
          for (const one of replaced.values()) model.set(one.seq, { ...one, state: "live" });
          const present = [...model.keys()];
          const moves = new Map<number, (typeof targets)[number]>();
          for (const [at, to] of move) moves.set(present[at % present.length] as number, to);
          for (const [seq, to] of moves) {
            if (to === "removed") model.delete(seq);
            else model.set(seq, { ...(model.get(seq) as Kept), state: to });
          }
          const next = update(version, first + append, {
            append: added,
            replace: [...replaced.values()],
            move: [...moves].map(([seq, to]) => ({ seq, to })),
          });
          await store.updateMessages(memoryId, next);
          ({ version, nextSeq } = next);
          if (model.size === 0) break;
        }
        const kept = [...model.values()].sort((a, b) => a.seq - b.seq);
        const live = kept.filter(({ state }) => state === "live").map(({ state: _, ...one }) => one);
        expect(await store.getMessages(memoryId)).toEqual({ version, nextSeq, messages: live });
        const matching = kept.filter(({ state }) => wanted.includes(state));
        expect(await pagesOf({ states: wanted }, 7)).toEqual(matching);
        expect(await pagesOf({ states: wanted, order: "descending" }, 7)).toEqual(matching.toReversed());
        const ids = kept.map(({ id }) => id);
        expect(await pagesOf({ states: wanted, ids }, 7)).toEqual(matching);
      },
    ),
    { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 30) },
  );
});

test("messages in a row are one range, and a system message far before them another", async () => {
  const left = messages(2, 40).map(({ seq }) => ({ seq, to: "evicted" as const }));
  const begin = update(null, 61, { append: messages(1, 60), move: left });
  await store.updateMessages(memoryId, begin);
  expect(await ranges()).toBe("{[1,2),[41,61)}");
  const move = [{ seq: 41, to: "evicted" as const }];
  const append = update(begin.version, 62, { append: [message(61)], move });
  await store.updateMessages(memoryId, append);
  expect(await ranges()).toBe("{[1,2),[42,62)}");
  // A rewind: what was said last is superseded, and what has left comes back.
  const rewind = update(append.version, 62, {
    move: [
      ...messages(52, 61).map(({ seq }) => ({ seq, to: "superseded" as const })),
      ...messages(32, 41).map(({ seq }) => ({ seq, to: "live" as const })),
    ],
  });
  await store.updateMessages(memoryId, rewind);
  expect(await ranges()).toBe("{[1,2),[32,52)}");
  expect((await store.getMessages(memoryId)).messages).toEqual([message(1), ...messages(32, 51)]);
  const superseded = await store.getHistory(memoryId, { states: ["superseded"] });
  expect(superseded.messages.map(({ seq }) => seq)).toEqual(messages(52, 61).map(({ seq }) => seq));
});

test("thousands of live messages, every second one, are read, added to and evicted", async () => {
  const even = messages(1, 6_000).filter(({ seq }) => seq % 2 === 0);
  const odd = messages(1, 6_000).filter(({ seq }) => seq % 2 === 1);
  const begin = update(null, 6_001, {
    append: messages(1, 6_000),
    move: even.map(({ seq }) => ({ seq, to: "evicted" as const })),
  });
  await store.updateMessages(memoryId, begin);
  expect((await store.getMessages(memoryId)).messages).toEqual(odd);
  const move = [1, 3_001].map((seq) => ({ seq, to: "evicted" as const }));
  await store.updateMessages(memoryId, update(begin.version, 6_002, { append: [message(6_001)], move }));
  const left = [...odd.filter(({ seq }) => seq !== 1 && seq !== 3_001), message(6_001)];
  expect((await store.getMessages(memoryId)).messages).toEqual(left);
  expect((await pagesOf({ states: ["live"] }, 1_000)).map(({ seq }) => seq)).toEqual(
    left.map(({ seq }) => seq),
  );
  expect((await pagesOf({ states: ["evicted"] }, 1_000)).length).toBe(3_002);
});

test("more messages than a statement has parameters for begin, come and leave, in any order", async () => {
  const begin = update(null, 12_001, { append: messages(1, 12_000) });
  await store.updateMessages(memoryId, begin);
  const append = update(begin.version, 24_001, { append: messages(12_001, 24_000) });
  await store.updateMessages(memoryId, append);
  const move = messages(1, 23_990).map(({ seq }) => ({ seq, to: "evicted" as const }));
  await store.updateMessages(memoryId, update(append.version, 24_001, { move: move.reverse() }));
  expect((await store.getMessages(memoryId)).messages).toEqual(messages(23_991, 24_000));
  expect(await ranges()).toBe("{[23991,24001)}");
});

test("more messages than a statement takes as parameters are replaced, leave and come back", async () => {
  const begin = update(null, 3_001, { append: messages(1, 3_000) });
  await store.updateMessages(memoryId, begin);
  const third = (rest: number) => messages(1, 3_000).filter(({ seq }) => seq % 3 === rest);
  const replace = [...third(0), ...third(1)].map(({ seq }) => ({
    ...message(seq, `"again ${seq}"`),
    meta: "{}",
  }));
  const change = update(begin.version, 3_001, {
    replace,
    move: [
      ...third(1).map(({ seq }) => ({ seq, to: "evicted" as const })),
      ...third(2).map(({ seq }) => ({ seq, to: "removed" as const })),
    ],
  });
  await store.updateMessages(memoryId, change);
  expect((await store.getMessages(memoryId)).messages).toEqual(replace.slice(0, 1_000));
  const back = update(change.version, 3_001, {
    move: replace.map(({ seq }) => ({ seq, to: seq % 3 === 0 ? "superseded" : "live" })),
  });
  await store.updateMessages(memoryId, back);
  expect((await store.getMessages(memoryId)).messages).toEqual(replace.slice(1_000));
  const superseded = replace.slice(0, 1_000).map((one) => ({ ...one, state: "superseded" }));
  expect(await pagesOf({ states: ["superseded"] }, 600)).toEqual(superseded);
});

test("the largest seq there is can be live", async () => {
  const last = Number.MAX_SAFE_INTEGER - 1;
  const [before, newest] = messages(1, 2).map((one, index) => ({ ...one, seq: last - 1 + index }));
  const append = [before, newest] as StoredMessage[];
  const begin = update(null, last + 1, { append });
  await store.updateMessages(memoryId, begin);
  const move = [{ seq: last - 1, to: "evicted" as const }];
  await store.updateMessages(memoryId, update(begin.version, last + 1, { move }));
  expect((await store.getMessages(memoryId)).messages).toEqual([newest]);
});
