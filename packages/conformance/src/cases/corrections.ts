import type { MessageState } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

/** Replacements of what has left memory. */
export const correctionsCases: readonly ConformanceCase[] = inGroup("states", [
  {
    name: "an evicted message is replaced in history, and memory stays as it is",
    sentence: sentences.replace,
    requires: { history: true },
    async run(context) {
      const memory = await withEvicted(context.memory(), 6, [1, 2, 3, 4]);
      await memory.commit({ replace: [{ seq: 2, payload: '"new"', meta: '{"tokens":9}' }] });
      await memory.check("after an evicted message was replaced");
      await memory.checkHistory("of its id", { ids: ["m2", "m3"] });
      await memory.checkHistory("of what is evicted", { states: ["evicted"], order: "descending" });
      await memory.commit({
        replace: [
          { seq: 4, createdAt: 1_600_000_000_001 },
          { seq: 2, payload: '"newer"' },
          { seq: 3, meta: "{}" },
        ],
      });
      await memory.check("after three evicted messages were replaced, one of them again", context.other);
      await memory.checkHistory("of their ids", { ids: ["m4", "m2", "m3"] }, context.other);
    },
  },
  {
    name: "evicted messages are replaced beside live ones, in one update",
    sentence: sentences.replace,
    requires: { history: true },
    async run(context) {
      const memory = await withEvicted(context.memory(), 8, [1, 2, 3, 5]);
      const update = await memory.commit({
        append: 2,
        replace: [7, 1, 4, 5].map((seq) => ({ seq, payload: `"again ${seq}"` })),
        move: [
          { seq: 4, to: "evicted" },
          { seq: 6, to: "evicted" },
          { seq: 3, to: "superseded" },
        ],
        head: '"1"',
      });
      await memory.check("after live and evicted messages were replaced in one update");
      await context.other.updateMessages(memory.id, structuredClone(update));
      await memory.check("after the same update was sent twice");
      await memory.commit({
        append: 1,
        replace: [1, 4, 6, 9].map((seq) => ({ seq, payload: `"last ${seq}"` })),
      });
      await memory.check("after they were replaced again, and what had just left", context.other);
      await memory.checkHistory("of their ids", { ids: ["m1", "m4", "m6", "m9"] });
    },
  },
  {
    name: "an evicted message may become large, and small again",
    sentence: sentences.replace,
    requires: { history: true },
    async run(context) {
      const memory = await withEvicted(context.memory(), 5, [1, 2, 3]);
      const large = (text: string): string => JSON.stringify(text.repeat(300_000));
      await memory.commit({ replace: [{ seq: 2, payload: large("a") }] });
      await memory.check("after an evicted message became large");
      await memory.checkHistory("of a large message", { ids: ["m2"] });
      await memory.commit({ append: 1, replace: [1, 2].map((seq) => ({ seq, payload: large(`${seq}`) })) });
      await memory.check("after a large message and a small one were replaced by large ones", context.other);
      await memory.commit({ replace: [1, 2].map((seq) => ({ seq, payload: `"small ${seq}"` })) });
      await memory.check("after large messages became small");
      await memory.checkHistory("of two messages that were large", { ids: ["m1", "m2"] });
    },
  },
  {
    name: "what was replaced in history comes back as it is",
    sentence: sentences.replace,
    requires: { history: true },
    async run(context) {
      const memory = await withEvicted(context.memory(), 7, [1, 2, 3, 4, 5]);
      await memory.commit({ replace: [2, 3, 4].map((seq) => ({ seq, payload: `"new ${seq}"` })) });
      const ways: readonly [seq: number, to: MessageState | "removed"][] = [
        [2, "live"],
        [3, "superseded"],
        [4, "removed"],
      ];
      await memory.commit({ move: ways.map(([seq, to]) => ({ seq, to })) });
      await memory.check("after what was replaced in history has moved");
      await memory.commit({ replace: [{ seq: 2, payload: '"live"' }], move: [{ seq: 2, to: "evicted" }] });
      await memory.check("after one that came back was replaced, and left again");
      await memory.commit({
        append: 1,
        replace: [1, 2, 5].map((seq) => ({ seq, payload: `"newest ${seq}"` })),
        move: [
          { seq: 1, to: "live" },
          { seq: 2, to: "superseded" },
          { seq: 5, to: "removed" },
        ],
      });
      await memory.check(
        "after an update that replaces three evicted messages and moves them",
        context.other,
      );
      await memory.commit({ replace: [{ seq: 1, payload: '"at last"' }] });
      await memory.check("after one of them, which is live now, was replaced");
    },
  },
  {
    name: "several hundred messages in history may be replaced in one update",
    sentence: sentences.atomic,
    requires: { history: true },
    heavy: true,
    async run(context) {
      const seqs = Array.from({ length: 500 }, (_, index) => index + 1);
      const memory = await withEvicted(context.memory(), 600, seqs);
      const update = await memory.commit({
        append: 1,
        replace: [...seqs.slice(0, 400), 590].map((seq) => ({ seq, payload: `"new ${seq}"` })),
        move: [{ seq: 595, to: "evicted" }],
      });
      await memory.check("after 400 evicted messages and a live one were replaced");
      await memory.checkHistory("of all of them", { limit: 1000 });
      await context.other.updateMessages(memory.id, structuredClone(update));
      await memory.checkHistory("after the same update was sent twice", { limit: 1000 }, context.other);
    },
  },
]);

/** Of so many messages, those with these seqs are evicted. */
async function withEvicted(memory: TestMemory, count: number, seqs: readonly number[]): Promise<TestMemory> {
  await memory.commit({ append: count });
  await memory.commit({ move: seqs.map((seq) => ({ seq, to: "evicted" })) });
  return memory;
}
