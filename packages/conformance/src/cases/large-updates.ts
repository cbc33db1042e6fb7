import type { MemoryUpdate } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectSettled } from "../support/expect.ts";
import { largeUpdate } from "../support/large.ts";
import { expectListed } from "../support/listed.ts";
import { race, turns } from "../support/races.ts";
import { expectAppliedOnce, expectOneWins } from "../support/rivals.ts";
import { sentences } from "../support/sentences.ts";

/** Updates that a store may have to write on another path than small ones: in portions, staged, or in bulk. */
export const largeUpdatesCases: readonly ConformanceCase[] = [
  ...inGroup("atomicity", [
    {
      name: "a large update is applied whole, and leaves as it was what it does not name",
      sentence: sentences.atomic,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        const [owner, other] = [context.unique(), context.unique()];
        await memory.commit({ append: 200, head: "1", data: "1", owner });
        await memory.send(largeUpdate(memory, "first", { data: "2", owner: other }));
        await memory.check("after a large update");
        await expectListed("the list of the owner before", context.store, { owner }, []);
        await expectListed("the list of its new owner", context.store, { owner: other }, [memory]);
        await memory.send(largeUpdate(memory, "second", { head: undefined }));
        await memory.check("after a large update without head", context.other);
        await memory.send(largeUpdate(memory, "third", { head: undefined, move: [] }));
        await memory.check("after a large update that moves nothing");
      },
    },
    {
      name: "a delete that races a large update leaves nothing behind",
      sentence: sentences.delete,
      heavy: true,
      async run(context) {
        for (let round = 0; round < 4; round++) {
          const memory = context.memory();
          const secret = context.unique();
          await memory.commit({ append: 200, owner: context.unique() });
          const update = largeUpdate(memory, secret);
          const [written, deleted] = await race(
            round,
            () => context.other.updateMessages(memory.id, update),
            async () => {
              await turns(round);
              await context.store.deleteMessages(memory.id);
            },
          );
          expectSettled("a large update that races a delete", written, "VERSION_CONFLICT");
          expectSettled("a delete that races a large update", deleted);
          memory.model.delete();
          await memory.check("after a delete raced a large update");
          await memory.commit({ append: 1 });
          await memory.check("of the memory that began after a delete raced a large update", context.other);
        }
      },
    },
  ]),
  ...inGroup("versions", [
    {
      name: "a large update of an earlier version conflicts",
      sentence: sentences.expected,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "1" });
        const stale = largeUpdate(memory, "stale");
        const naming = largeUpdate(memory, "naming");
        await memory.commit({ append: 1, move: [{ seq: 1, to: "removed" }] });
        for (const [client, update] of [
          [context.store, stale],
          [context.other, naming],
        ] as const) {
          await memory.refused("a large update of an earlier version", "VERSION_CONFLICT", update, client);
          await memory.check("after a large update of an earlier version");
        }
        await context.store.sweep();
        await memory.commit({ append: 1 });
        await memory.check("after a conflict of a large update, and a small one", context.other);
      },
    },
    {
      name: "of two large updates of one version exactly one wins",
      sentence: sentences.expected,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "0" });
        for (let round = 1; round <= 4; round++) {
          const both = [largeUpdate(memory, `left ${round}`), largeUpdate(memory, `right ${round}`)] as const;
          await expectOneWins("large updates of one version", context, memory, round, both);
          await memory.check("after two large updates of one version");
        }
      },
    },
  ]),
  ...inGroup("replay", [
    {
      name: "a large update sent twice is applied once, and conflicts after another commit",
      sentence: sentences.replay,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        const beginning = await memory.commit({ append: 200, head: "1", owner: context.unique() });
        await context.other.updateMessages(memory.id, structuredClone(beginning));
        await memory.check("after a large beginning was sent twice");
        const update = largeUpdate(memory, "large");
        await memory.send(update);
        await context.other.updateMessages(memory.id, structuredClone(update));
        await memory.check("after a large update was sent twice");
        await memory.commit({ append: 1 });
        for (const early of [beginning, update]) {
          await memory.refused(
            "a large update, sent again after another commit",
            "VERSION_CONFLICT",
            early,
            context.other,
          );
        }
        await memory.check("after large updates were sent again too late");
      },
    },
    {
      name: "a large update sent twice at once is applied once",
      sentence: sentences.replay,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        for (let round = 0; round < 4; round++) {
          const update = round === 0 ? memory.update({ append: 200 }) : largeUpdate(memory, `round ${round}`);
          await expectAppliedOnce("a large update", context, memory, round, update);
          await memory.check("after a large update was sent twice at once");
        }
      },
    },
  ]),
  ...inGroup("errors", [
    {
      name: "a large update that contradicts what is stored is refused",
      sentence: sentences.agrees,
      heavy: true,
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "1", data: "1", nextSeq: 210 });
        await memory.commit({ move: [{ seq: 200, to: "removed" }] });
        const good = largeUpdate(memory, "good", { data: JSON.stringify("x".repeat(8000)) });
        const contradictions: readonly (readonly [what: string, over: Partial<MemoryUpdate>])[] = [
          ["a new message at a seq that was passed over", { append: [memory.message(205), ...good.append] }],
          ["a nextSeq that goes back", { append: [], nextSeq: 209 }],
          ["a replacement of a removed message", { replace: [...good.replace, memory.message(200)] }],
          [
            "a replacement under another id",
            { replace: [...good.replace, memory.message(160, { id: "new" })] },
          ],
          ["a move of a removed message", { move: [...good.move, { seq: 200, to: "evicted" }] }],
          ["a move of what never was", { move: [...good.move, { seq: 207, to: "removed" }] }],
        ];
        for (const [what, over] of contradictions) {
          await memory.refused(`a large update with ${what}`, "INVALID_OPTION", { ...good, ...over });
          await memory.check(`after a large update with ${what}`);
        }
        await memory.send(good);
        await memory.check("after a large update that agrees with what is stored");
      },
    },
  ]),
];
