import { type ConformanceCase, inGroup } from "../case.ts";
import { expectThat } from "../support/expect.ts";
import { sentences } from "../support/sentences.ts";

const needs = ["counted"] as const;

export const countedCases: readonly ConformanceCase[] = inGroup("sizes", [
  {
    name: "a read takes the declared number of steps",
    sentence: sentences.readSteps,
    needs,
    async run(context) {
      const { store, count } = await context.counted();
      const memory = context.memory(undefined, store);
      const { readSteps } = context.capabilities;
      await memory.commit({ append: 20, head: "1", owner: context.unique() });
      await memory.commit({ append: 4, move: [1, 2, 3].map((seq) => ({ seq, to: "evicted" })) });
      expectThat("count of the harness has seen two updates", count().steps > 0, count());
      // What a client does once, such as to connect, is not counted.
      await store.getMessages(memory.id);
      for (const known of [undefined, memory.model.version ?? undefined, context.unique()]) {
        const before = count().steps;
        await store.getMessages(memory.id, { known });
        const steps = count().steps - before;
        const which =
          known === undefined ? "" : known === memory.model.version ? " of the known version" : " of another";
        expectThat(`a read${which} takes ${readSteps} steps or fewer`, steps <= readSteps, steps);
      }
    },
  },
  {
    name: "an append writes only the messages that it names",
    sentence: sentences.delta,
    requires: { delta: true },
    needs,
    async run(context) {
      const { store, count } = await context.counted();
      const memory = context.memory(undefined, store);
      const payload = JSON.stringify("x".repeat(1000));
      const append = Array.from({ length: 600 }, () => ({ payload }));
      await memory.commit({ append });
      await memory.commit({ append: 1 });
      const before = count().bytes;
      const rounds = 4;
      for (let round = 0; round < rounds; round++) await memory.commit({ append: 1 });
      const bytes = (count().bytes - before) / rounds;
      expectThat("count of the harness sees the bytes of an append", bytes > 0, bytes);
      expectThat("an append to 600 KB of live messages sends less than 300 KB", bytes < 300_000, bytes);
    },
  },
]);
