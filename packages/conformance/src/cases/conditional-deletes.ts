import { type ConformanceCase, inGroup } from "../case.ts";
import { brief } from "../support/brief.ts";
import { expectCode, expectEqual, expectSettled, named } from "../support/expect.ts";
import { race, turns } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const conditionalDeletesCases: readonly ConformanceCase[] = [
  ...inGroup("versions", [
    {
      name: "a delete of one version deletes that one, and nothing once it is gone",
      sentence: sentences.deleteExpected,
      async run({ memory: make, store, other }) {
        const memory = make();
        const { version: first } = await memory.commit({ append: 3, owner: "alice", head: "1" });
        const { version: second } = await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
        const stale = () => store.deleteMessages(memory.id, { expected: first });
        await expectCode("a delete of an earlier version", "VERSION_CONFLICT", stale);
        await memory.check("after a delete of an earlier version", other);
        await named(
          "deleteMessages of the stored version",
          other.deleteMessages(memory.id, { expected: second }),
        );
        memory.model.delete();
        await memory.check("after a delete of the stored version", store);
        await named("deleteMessages again", store.deleteMessages(memory.id, { expected: second }));
      },
    },
    {
      name: "a delete of a version of an earlier life leaves the later one",
      sentence: sentences.deleteExpected,
      async run({ memory: make, store, other }) {
        const memory = make();
        const { version } = await memory.commit({ append: 3 });
        await memory.delete();
        await memory.commit({ append: 2, owner: "bob" });
        const stale = () => other.deleteMessages(memory.id, { expected: version });
        await expectCode("a delete of a version of an earlier life", "VERSION_CONFLICT", stale);
        await memory.check("after a delete of a version of an earlier life", store);
      },
    },
    {
      name: "a delete of what is no version deletes nothing",
      sentence: sentences.deleteNoVersion,
      async run({ memory: make, store, other }) {
        const memory = make();
        await memory.commit({ append: 3, owner: "alice" });
        const noVersions = ["", null, 1, "x".repeat(257), "\u0000"] as readonly string[];
        for (const expected of noVersions) {
          const what = `a delete with the expected version ${brief(expected)}`;
          await expectCode(what, "INVALID_OPTION", () => store.deleteMessages(memory.id, { expected }));
          await memory.check(`after ${what}`, other);
        }
      },
    },
  ]),
  ...inGroup("atomicity", [
    {
      name: "of a delete of one version and a write that race, one takes place",
      sentence: sentences.deleteExpected,
      async run(context) {
        for (let round = 0; round < 20; round++) {
          const memory = context.memory();
          const { version: expected } = await memory.commit({ append: 3, head: "1" });
          const update = memory.update({ append: 1, head: "2" });
          const [deleted, written] = await race(
            round,
            () => context.store.deleteMessages(memory.id, { expected }),
            async () => {
              await turns(round % 5);
              await context.other.updateMessages(memory.id, update);
            },
          );
          const isDeleted = expectSettled("a delete that races a write", deleted, "VERSION_CONFLICT");
          const isWritten = expectSettled("a write that races a delete", written, "VERSION_CONFLICT");
          expectEqual(
            "how many of a delete and a write of one version succeeded",
            [isDeleted, isWritten].filter(Boolean).length,
            1,
          );
          if (isDeleted) memory.model.delete();
          else memory.model.apply(update);
          await memory.check("after a delete of one version raced a write");
        }
      },
    },
  ]),
];
