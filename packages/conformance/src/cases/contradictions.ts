import type { MemoryUpdate, MessageState } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectSecret } from "../support/expect.ts";
import { expectUnlisted } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

export const contradictionsCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "an update that contradicts what is stored is refused",
    sentence: sentences.agrees,
    async run(context) {
      const memory = context.memory();
      const secret = `secret-${context.unique()}`;
      await memory.commit({
        append: [1, 2, 3, 4].map((seq) => ({ payload: `"${secret} ${seq}"` })),
        head: "1",
        nextSeq: 10,
      });
      await memory.commit({
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "superseded" },
          { seq: 3, to: "removed" },
        ],
      });
      for (const [what, over] of contradictions(memory, secret, context.capabilities.history)) {
        const update = { ...memory.update({ append: 1, head: '"lost"' }), ...over };
        const error = await memory.refused(`an update with ${what}`, "INVALID_OPTION", update);
        expectSecret(`the error for an update with ${what}`, error, secret);
        await memory.check(`after an update with ${what}`);
      }
      await memory.commit({ append: 1, replace: [{ seq: 4, payload: '"new"' }] });
      await memory.check("after an update that agrees with what is stored");
    },
  },
  {
    name: "a beginning that names what is not there is refused",
    sentence: sentences.agrees,
    async run(context) {
      const memory = context.memory();
      const namings: readonly (readonly [what: string, over: Partial<MemoryUpdate>])[] = [
        ["a replacement", { replace: [memory.message(1)] }],
        ["an eviction", { move: [{ seq: 1, to: "evicted" }] }],
        ["a removal", { move: [{ seq: 1, to: "removed" }] }],
      ];
      for (const [what, over] of namings) {
        const owner = context.unique();
        const update = { ...memory.update({ append: [{ seq: 2 }], owner }), ...over };
        await memory.refused(`a beginning with ${what}`, "INVALID_OPTION", update);
        await memory.check(`after a beginning with ${what}`);
        await expectUnlisted(`after a beginning with ${what}`, context.store, owner, memory);
      }
    },
  },
]);

/** The memory holds seq 1, evicted, 2, superseded, and 4, live; 3 was removed; the next seq is 10. */
function contradictions(
  memory: TestMemory,
  secret: string,
  history: boolean,
): readonly (readonly [what: string, over: Partial<MemoryUpdate>])[] {
  const none = { append: [] };
  const payload = `"${secret}"`;
  const replaced = (seq: number) => ({ replace: [memory.message(seq, { payload })] });
  const corrected = (seq: number, id = `m${seq}`) => ({
    replace: [{ ...memory.message(seq, { payload, id }), state: "evicted" as const }],
  });
  const moved = (seq: number, to: MessageState | "removed" = "evicted") => ({ move: [{ seq, to }] });
  return [
    ["a nextSeq that goes back", { ...none, nextSeq: 9 }],
    ["a nextSeq that goes back behind a live message", { ...none, nextSeq: 4 }],
    ["a new message at the seq of a live one", { append: [memory.message(4, { id: "new", payload })] }],
    ["a new message at the seq of one that left", { append: [memory.message(1, { id: "new" })] }],
    ["a new message at the seq of a removed one", { append: [memory.message(3, { id: "new" })] }],
    ["a new message at a seq that was passed over", { append: [memory.message(7, { payload })] }],
    ["a replacement of an evicted message as a live one", replaced(1)],
    ["a replacement of a superseded message", replaced(2)],
    ["a replacement of a removed message", replaced(3)],
    ["a replacement of what never was", replaced(7)],
    ["a correction of a live message as an evicted one", corrected(4)],
    ["a correction of a superseded message", corrected(2)],
    ["a correction of a removed message", corrected(3)],
    ["a correction of what never was", corrected(7)],
    ["a correction under another id", corrected(1, "another")],
    [
      "a correction of a superseded message beside a replacement",
      { replace: [...replaced(4).replace, ...corrected(2).replace] },
    ],
    ["a correction of a superseded message that it removes", { ...corrected(2), ...moved(2, "removed") }],
    ["a correction of a live message that it evicts", { ...corrected(4), ...moved(4) }],
    ["a replacement under another id", { replace: [memory.message(4, { id: "another", payload })] }],
    [
      "a replacement of an evicted message as a live one that it removes",
      { ...replaced(1), ...moved(1, "removed") },
    ],
    [
      "a replacement under another id that it removes",
      { replace: [memory.message(4, { id: "another", payload })], ...moved(4, "removed") },
    ],
    ["a move of a removed message", moved(3)],
    ["a removal of a removed message", moved(3, "removed")],
    ["a return of a removed message to memory", moved(3, "live")],
    ["a move of what never was", moved(7)],
    ["a removal of what never was", moved(7, "removed")],
    ["superseding what never was", moved(7, "superseded")],
    ["a move of what never was beside a replacement", { ...replaced(4), ...moved(7) }],
    ...(history ? [] : [["a move of a message that left", moved(1)] as const]),
    ...(history ? [] : [["a correction of a message that left", corrected(1)] as const]),
  ];
}
