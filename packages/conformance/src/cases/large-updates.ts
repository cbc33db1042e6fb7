import type { MemoryUpdate } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectCode, expectEqual, expectSettled } from "../expect.ts";
import type { TestMemory } from "../memory.ts";
import { race } from "../races.ts";
import { sentences } from "../sentences.ts";

/** Updates that a store may have to write on another path than small ones: in portions, staged, or in bulk. */
export const largeUpdatesCases: readonly ConformanceCase[] = [
  ...inGroup("versions", [
    {
      name: "a large update of an earlier version conflicts",
      sentence: sentences.expected,
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "1" });
        const stale = large(memory);
        const naming = large(memory);
        await memory.commit({ append: 1, move: [{ seq: 1, to: "removed" }] });
        for (const [client, update] of [
          [context.store, stale],
          [context.other, naming],
        ] as const) {
          await expectCode("a large update of an earlier version", "VERSION_CONFLICT", () =>
            client.updateMessages(memory.id, update),
          );
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
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "0" });
        for (let round = 1; round <= 4; round++) {
          const [one, two] = [large(memory), large(memory)];
          const [left, right] = await race(
            round,
            () => context.store.updateMessages(memory.id, one),
            () => context.other.updateMessages(memory.id, two),
          );
          const won = [left, right].map((result) =>
            expectSettled("one of two large updates of one version", result, "VERSION_CONFLICT"),
          );
          expectEqual("how many of two large updates succeeded", won.filter(Boolean).length, 1);
          memory.model.apply(won[0] ? one : two);
          await memory.check("after two large updates of one version");
        }
      },
    },
  ]),
  ...inGroup("replay", [
    {
      name: "a large update sent twice is applied once, and conflicts after another commit",
      sentence: sentences.replay,
      async run(context) {
        const memory = context.memory();
        const beginning = await memory.commit({ append: 200, head: "1", owner: context.unique() });
        await context.other.updateMessages(memory.id, structuredClone(beginning));
        await memory.check("after a large beginning was sent twice");
        const update = large(memory);
        await memory.send(update);
        await context.other.updateMessages(memory.id, structuredClone(update));
        await memory.check("after a large update was sent twice");
        await memory.commit({ append: 1 });
        for (const early of [beginning, update]) {
          await expectCode("a large update, sent again after another commit", "VERSION_CONFLICT", () =>
            context.other.updateMessages(memory.id, early),
          );
        }
        await memory.check("after large updates were sent again too late");
      },
    },
  ]),
  ...inGroup("errors", [
    {
      name: "a large update that contradicts what is stored is refused",
      sentence: sentences.agrees,
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 200, head: "1", nextSeq: 210 });
        await memory.commit({ move: [{ seq: 200, to: "removed" }] });
        const good = large(memory);
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
          await expectCode(`a large update with ${what}`, "INVALID_OPTION", () =>
            context.store.updateMessages(memory.id, { ...good, ...over }),
          );
          await memory.check(`after a large update with ${what}`);
        }
        await memory.send(good);
        await memory.check("after a large update that agrees with what is stored");
      },
    },
  ]),
];

/** Appends 150 messages, one of them of 300 KB, replaces 40 and moves 120 of the 200 and more that are live. */
function large(memory: TestMemory): MemoryUpdate {
  const live = memory.model.seqs("live");
  const filled = JSON.stringify("x".repeat(300_000));
  return memory.update({
    append: Array.from({ length: 150 }, (_, index) => (index === 75 ? { payload: filled } : {})),
    replace: live.slice(110, 150).map((seq) => ({ seq, payload: `"changed ${seq}"` })),
    move: live.slice(0, 120).map((seq) => ({ seq, to: seq % 3 === 0 ? "removed" : "evicted" })),
    head: "2",
  });
}
