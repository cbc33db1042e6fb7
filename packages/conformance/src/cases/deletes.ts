import type { MemorySnapshot } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual, expectSettled, expectSnapshot } from "../support/expect.ts";
import { expectListed } from "../support/listed.ts";
import { abortLater, race, readWhile, turns } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const deletesCases: readonly ConformanceCase[] = [
  ...inGroup("atomicity", [
    {
      name: "a delete that races the next beginning leaves that beginning whole",
      sentence: sentences.atomic,
      async run(context) {
        for (let round = 0; round < 20; round++) {
          const memory = context.memory();
          await memory.commit({ append: 3, owner: "alice", head: "1" });
          memory.model.delete();
          // It begins only where the delete has taken place, so nothing of the delete may come after it.
          const owner = context.unique();
          const beginning = memory.update({ append: 2, head: "2", owner });
          const [deleted, begun] = await race(
            round,
            () => context.store.deleteMessages(memory.id),
            async () => {
              await turns(round % 5);
              await context.other.updateMessages(memory.id, beginning);
            },
          );
          expectSettled("a delete that races the next beginning", deleted);
          if (expectSettled("a beginning that races a delete", begun, "VERSION_CONFLICT")) {
            memory.model.apply(beginning);
          }
          await memory.check("after a delete raced the next beginning");
          const begins = memory.model.version === null ? [] : [memory];
          const what = "the owner's list after a delete raced the next beginning";
          await expectListed(what, context.store, { owner }, begins);
        }
      },
    },
    {
      name: "a reader while a memory is deleted and begins again sees one life or none",
      sentence: sentences.consistent,
      async run(context) {
        const memory = context.memory();
        const write = async () => {
          for (let life = 1; life <= 24; life++) {
            const append = [1, 2, 3, 4].map(() => ({ payload: `${life}` }));
            await memory.commit({ append, head: `${life}` });
            await turns(life % 3);
            await memory.delete();
          }
        };
        await readWhile(async () => expectOneLife(await context.other.getMessages(memory.id)), write);
        await memory.check("after 24 lives");
      },
    },
  ]),
  ...inGroup("errors", [
    {
      name: "an update sent twice at once, the first time under a signal that fires, is applied once",
      sentence: sentences.replay,
      async run(context) {
        const memory = context.memory();
        for (let round = 0; round < 10; round++) {
          const update = memory.update({ append: 2, head: `${round}` });
          const controller = new AbortController();
          const { signal } = controller;
          const [first, second] = await Promise.allSettled([
            context.store.updateMessages(memory.id, update, { signal }),
            context.store.updateMessages(memory.id, structuredClone(update)),
            abortLater(controller, round),
          ]);
          expectSettled("an update whose signal fires", first, "ABORTED");
          expectSettled("the same update without a signal", second);
          memory.model.apply(update);
          await memory.check("after an update was sent twice at once, once under a signal", context.other);
        }
      },
    },
    {
      name: "a signal that fires during a delete leaves the memory whole or absent",
      sentence: sentences.consistent,
      async run(context) {
        for (let round = 0; round < 16; round++) {
          const memory = context.memory();
          await memory.commit({ append: 4, head: "1" });
          const controller = new AbortController();
          const { signal } = controller;
          const deleting = context.store.deleteMessages(memory.id, { signal });
          const [deleted] = await Promise.allSettled([deleting, abortLater(controller, round)]);
          const done = expectSettled("a delete whose signal fires", deleted, "ABORTED");
          const seen = await context.other.getMessages(memory.id);
          if (done) expectEqual("the version after a delete that succeeded", seen.version, null);
          // What was given up may still take place, at any later moment.
          else if (seen.version !== null) {
            const whole = memory.model.snapshot();
            expectSnapshot("getMessages after a signal fired during a delete", seen, whole);
          }
          await memory.delete();
          await memory.check("after a delete that nothing ended");
        }
      },
    },
  ]),
];

/** A life has four messages that all carry the number in its head. */
function expectOneLife({ version, nextSeq, head, messages }: MemorySnapshot): void {
  const life = version === null ? [] : [head, head, head, head];
  const payloads = messages.map(({ payload }) => payload);
  expectEqual(
    `payloads while a memory is deleted and begins, under the version ${version}, head ${head}`,
    payloads,
    life,
  );
  expectEqual("nextSeq while a memory is deleted and begins", nextSeq, version === null ? 1 : 5);
}
