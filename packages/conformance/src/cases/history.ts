import type { ChatMemoryStore, HistoryQuery, MessageState } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectCode, expectEqual } from "../support/expect.ts";
import type { TestMemory } from "../support/memory.ts";
import { readWhile } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const requires = { history: true };

export const historyCases: readonly ConformanceCase[] = inGroup("history", [
  {
    name: "a store without history says so",
    sentence: sentences.everyMethod,
    requires: { history: false },
    async run({ store, memoryId }) {
      await expectCode("getHistory", "UNSUPPORTED", () => store.getHistory(memoryId(), {}));
    },
  },
  {
    name: "the history of an unknown id is empty",
    sentence: sentences.historyPage,
    requires,
    async run(context) {
      const memory = context.memory();
      await memory.checkHistory("of an unknown id", {});
      await memory.checkHistory("of an unknown id, newest first", { order: "descending", limit: 1 });
    },
  },
  {
    name: "after is exclusive",
    sentence: sentences.greater,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      for (const after of [0, 1, 4, 11, 12, 1e12]) await memory.checkHistory(`after ${after}`, { after });
      await memory.checkHistory("after 4, newest first", { after: 4, order: "descending" });
    },
  },
  {
    name: "before is exclusive",
    sentence: sentences.smaller,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      for (const before of [0, 1, 2, 4, 12, 13]) await memory.checkHistory(`before ${before}`, { before });
      await memory.checkHistory("before 4, newest first", { before: 4, order: "descending" });
      for (const query of [
        { after: 3, before: 9 },
        { after: 5, before: 6 },
        { after: 9, before: 3 },
      ]) {
        await memory.checkHistory(`with ${JSON.stringify(query)}`, query);
      }
    },
  },
  {
    name: "history comes in either order",
    sentence: sentences.historyPage,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      for (const order of ["ascending", "descending", undefined] as const) {
        await memory.checkHistory(`in order ${order}`, { order });
        await memory.checkHistory(`in order ${order}, between 2 and 11`, { order, after: 2, before: 11 });
      }
    },
  },
  {
    name: "hasMore tells whether anything follows",
    sentence: sentences.historyPage,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      for (const order of ["ascending", "descending"] as const) {
        for (const limit of [1, 11, 12, 13, 1000]) {
          await memory.checkHistory(`with limit ${limit} of 12, ${order}`, { limit, order });
        }
        await memory.checkHistory("with limit 3 of 3", { limit: 3, after: 4, before: 8, order });
        await memory.checkHistory("with limit 3 of 4", { limit: 3, after: 4, before: 9, order });
        await memory.checkHistory("with limit 4 of 4", { limit: 4, states: ["evicted"], order });
        await memory.checkHistory("with limit 3 of 4", { limit: 3, states: ["evicted"], order });
      }
    },
  },
  {
    name: "a page has 100 messages unless asked, and up to 1,000",
    sentence: sentences.limit,
    requires,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 600 });
      await memory.commit({ append: 401, move: [{ seq: 5, to: "evicted" }] });
      await memory.checkHistory("without a limit", {});
      await memory.checkHistory("without a limit, newest first", { order: "descending" });
      await memory.checkHistory("with limit 1,000", { limit: 1000 });
    },
  },
  {
    name: "history can be asked for states",
    sentence: sentences.allStates,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      const choices: MessageState[][] = [
        ["live"],
        ["evicted"],
        ["superseded"],
        ["superseded", "live"],
        ["live", "evicted", "superseded"],
        ["evicted", "evicted"],
        [],
      ];
      for (const states of choices) {
        await memory.checkHistory(`of states ${states}`, { states });
        await memory.checkHistory(`of states ${states}, newest first`, { states, order: "descending" });
      }
    },
  },
  {
    name: "history can be asked for message ids",
    sentence: sentences.byIds,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      for (const ids of [["m3"], ["m9", "m2", "m5"], ["m1", "nobody"], ["nobody"], ["m4", "m4"], []]) {
        await memory.checkHistory(`of ids ${ids}`, { ids });
        await memory.checkHistory(`of ids ${ids}, newest first`, { ids, order: "descending" });
      }
      const many = Array.from({ length: 1000 }, (_, index) => `m${index + 7}`);
      await memory.checkHistory("of 1,000 ids", { ids: many });
    },
  },
  {
    name: "a thousand ids are all looked up",
    sentence: sentences.byIds,
    requires,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      for (let round = 0; round < 2; round++) await memory.commit({ append: 500 });
      await memory.commit({
        move: Array.from({ length: 500 }, (_, at) => ({ seq: 2 * at + 1, to: "evicted" })),
      });
      const ids = Array.from({ length: 1000 }, (_, index) => `m${1000 - index}`);
      await memory.checkHistory("of 1,000 ids", { ids, limit: 1000 });
      await memory.checkHistory("of 1,000 ids, the newest 100", { ids, order: "descending" });
      const strangers = Array.from({ length: 990 }, (_, index) => `x${index}`);
      await memory.checkHistory("of 10 ids behind 990 unknown ones", {
        ids: [...strangers, ...ids.slice(0, 10)],
      });
    },
  },
  {
    name: "a removed message is not found by its id",
    sentence: sentences.byIds,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      await memory.commit({ move: [1, 2, 12].map((seq) => ({ seq, to: "removed" })) });
      await memory.checkHistory("of removed ids", { ids: ["m1", "m2", "m12", "m3"] });
    },
  },
  {
    name: "every part of a query holds at once",
    sentence: sentences.historyPage,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      const ids = ["m2", "m4", "m5", "m6", "m8", "m10", "m11"];
      for (const order of ["ascending", "descending"] as const) {
        for (const limit of [1, 2, 3, 4]) {
          const query: HistoryQuery = {
            after: 2,
            before: 11,
            states: ["live", "superseded"],
            ids,
            order,
            limit,
          };
          await memory.checkHistory(`with limit ${limit}, ${order}`, query);
        }
      }
    },
  },
  {
    name: "a query that is not as described is refused",
    sentence: sentences.limit,
    requires,
    async run(context) {
      const memory = await mixed(context.memory());
      const ids = Array.from({ length: 1001 }, (_, index) => `m${index}`);
      const bad = [
        { limit: 0 },
        { limit: -1 },
        { limit: 1001 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { order: "newest" },
        { states: ["removed"] },
        { ids },
        { ids: [""] },
        { after: 1.5 },
        { before: Number.NaN },
      ];
      for (const query of bad) {
        const what = Object.entries(query).map(([name, value]) => `${name} ${String(value).slice(0, 20)}`);
        await expectCode(`getHistory with ${what}`, "INVALID_OPTION", () =>
          context.store.getHistory(memory.id, query as HistoryQuery),
        );
      }
    },
  },
  {
    name: "paging while another client writes shows each message once",
    sentence: sentences.paging,
    requires,
    async run(context) {
      for (const order of ["ascending", "descending"] as const) {
        const memory = context.memory();
        await memory.commit({ append: 40 });
        const before = memory.model.all().map(({ seq }) => seq);
        const read = async () => {
          const seen = await pages(context.other, memory.id, order);
          const kept = seen.filter((seq) => seq <= 40);
          expectEqual(
            `seqs seen while paging, ${order}`,
            kept,
            order === "ascending" ? before : [...before].reverse(),
          );
          expectEqual("messages seen twice while paging", seen.length - new Set(seen).size, 0);
        };
        await readWhile(read, async () => {
          for (let round = 0; round < 30; round++) {
            const [oldest = 0] = memory.model.seqs("live");
            const [back] = memory.model.seqs("superseded");
            const move = [
              { seq: oldest, to: round % 2 === 0 ? ("evicted" as const) : ("superseded" as const) },
            ];
            if (back !== undefined && back !== oldest) move.push({ seq: back, to: "evicted" });
            await memory.commit({ append: 1, move }, context.store);
          }
        });
        await memory.check("after the writes");
      }
    },
  },
]);

/** Twelve messages in every state: 1, 3, 4 and 7 evicted, 2, 6 and 8 superseded, the others live. */
async function mixed(memory: TestMemory): Promise<TestMemory> {
  await memory.commit({ append: 6 });
  await memory.commit({
    append: 6,
    move: [
      { seq: 1, to: "evicted" },
      { seq: 2, to: "superseded" },
      { seq: 3, to: "evicted" },
      { seq: 7, to: "evicted" },
      { seq: 8, to: "superseded" },
    ],
  });
  await memory.commit({
    move: [
      { seq: 4, to: "evicted" },
      { seq: 6, to: "superseded" },
    ],
  });
  return memory;
}

/** The seqs of a whole history, in small pages. */
async function pages(
  store: ChatMemoryStore,
  memoryId: string,
  order: "ascending" | "descending",
): Promise<number[]> {
  const seqs: number[] = [];
  let page = await store.getHistory(memoryId, { order, limit: 7 });
  while (true) {
    seqs.push(...page.messages.map(({ seq }) => seq));
    const last = seqs.at(-1);
    if (!page.hasMore || last === undefined) return seqs;
    const from = order === "ascending" ? { after: last } : { before: last };
    page = await store.getHistory(memoryId, { ...from, order, limit: 7 });
  }
}
