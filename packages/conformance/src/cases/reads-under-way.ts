import { type ConformanceCase, inGroup } from "../case.ts";
import { all, readWhile } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const rounds = 20;

const newest = { order: "descending", limit: 2 } as const;

export const readsUnderWayCases: readonly ConformanceCase[] = inGroup("basic", [
  {
    name: "a read shows what was committed before it began, whatever reads are under way",
    sentence: sentences.consistent,
    async run(context) {
      const { store, other, capabilities } = context;
      const memory = context.memory();
      // Large, so that a read takes long.
      const payload = JSON.stringify("x".repeat(100_000));
      await memory.commit({ append: Array.from({ length: 8 }, () => ({ payload })) });
      const write = async () => {
        for (let round = 0; round < rounds; round++) {
          await memory.commit({ append: 1 }, other);
          const what = "after a commit of another client, while earlier reads are under way";
          const page = async () => {
            if (capabilities.history) await memory.checkHistory(what, newest, store);
          };
          await all([memory.check(what, store), page()]);
        }
      };
      await readWhile(async () => {
        const reads: Promise<unknown>[] = [store.getMessages(memory.id)];
        if (capabilities.history) reads.push(store.getHistory(memory.id, newest));
        await Promise.all(reads);
      }, write);
    },
  },
]);
