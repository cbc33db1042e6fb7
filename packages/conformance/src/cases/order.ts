import { type ConformanceCase, inGroup } from "../case.ts";
import { sentences } from "../support/sentences.ts";

export const orderCases: readonly ConformanceCase[] = inGroup("order", [
  {
    name: "messages come by seq even if their times run backwards",
    sentence: sentences.order,
    async run(context) {
      const memory = context.memory();
      const now = 1_700_000_000_000;
      await memory.commit({ append: [{ createdAt: now }, { createdAt: now - 60_000 }] });
      await memory.commit({ append: [{ createdAt: now - 120_000 }, { createdAt: now - 30_000 }] });
      await memory.check("of messages whose times run backwards");
    },
  },
  {
    name: "messages of one millisecond come by seq, not by id",
    sentence: sentences.order,
    async run(context) {
      const memory = context.memory();
      const ids = ["z", "10", "9", "A", "a", "0"];
      await memory.commit({ append: ids.map((id) => ({ id, createdAt: 1_700_000_000_000 })) });
      await memory.check("of messages with the same time");
    },
  },
  {
    name: "seq counts as a number, not as text",
    sentence: sentences.order,
    async run(context) {
      const memory = context.memory();
      const seqs = [1, 2, 9, 10, 11, 99, 100, 101, 999, 1000, 10_000];
      for (const seq of seqs) await memory.commit({ append: [{ seq }] });
      await memory.check("of messages from seq 1 to 10,000");
      if (context.capabilities.history) {
        await memory.checkHistory("of messages from seq 1 to 10,000, newest first", { order: "descending" });
        await memory.checkHistory("between seq 9 and 1,000", { after: 9, before: 1000 });
      }
    },
  },
  {
    name: "seq may be any safe integer",
    sentence: sentences.position,
    async run(context) {
      const memory = context.memory();
      const seqs = [1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER - 2, Number.MAX_SAFE_INTEGER - 1];
      await memory.commit({ append: seqs.map((seq) => ({ seq })) });
      await memory.check("of messages up to seq 2^53 - 2");
      await memory.commit({ replace: [{ seq: Number.MAX_SAFE_INTEGER - 1, payload: '"last"' }] });
      await memory.check("after the last of them was replaced");
      if (!context.capabilities.history) return;
      for (const seq of seqs) {
        await memory.checkHistory(`after seq ${seq}`, { after: seq });
        await memory.checkHistory(`before seq ${seq}`, { before: seq });
        await memory.checkHistory(`up to seq ${seq}, newest first`, { before: seq + 1, order: "descending" });
      }
    },
  },
  {
    name: "a message that comes back to live takes its old place",
    sentence: sentences.backToLive,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 5 });
      await memory.commit({ move: [1, 2, 4].map((seq) => ({ seq, to: "evicted" })) });
      await memory.commit({ append: 1, move: [{ seq: 4, to: "live" }] });
      await memory.check("after seq 4 came back");
      await memory.commit({ move: [2, 1].map((seq) => ({ seq, to: "live" })) });
      await memory.check("after seq 2 and 1 came back");
    },
  },
  {
    name: "a replaced message keeps its place",
    sentence: sentences.replace,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4 });
      await memory.commit({ append: 1, replace: [3, 1].map((seq) => ({ seq, payload: `"again ${seq}"` })) });
      await memory.check("after seq 3 and 1 were replaced");
    },
  },
]);
