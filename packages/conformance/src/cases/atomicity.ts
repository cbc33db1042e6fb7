import type { MemorySnapshot } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectErased, expectHeld } from "../support/erased.ts";
import { expectEqual, expectSettled, expectThat } from "../support/expect.ts";
import { race, readWhile } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const rounds = 20;

export const atomicityCases: readonly ConformanceCase[] = inGroup("atomicity", [
  {
    name: "an update that appends, replaces, moves and sets the head is applied whole",
    sentence: sentences.atomic,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 6, head: "1", owner: "alice" });
      await memory.commit({
        append: 3,
        replace: [
          { seq: 2, payload: '"two"' },
          { seq: 5, payload: '"five"', meta: '"m"' },
        ],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "superseded" },
          { seq: 3, to: "removed" },
          { seq: 8, to: "evicted" },
        ],
        head: "2",
        nextSeq: 12,
      });
      await memory.check("after an update of every kind");
    },
  },
  {
    name: "an update that is refused changes nothing",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4, head: "1" });
      const stale = memory.update({
        append: 2,
        replace: [{ seq: 2, payload: '"lost"' }],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 3, to: "removed" },
        ],
        head: '"lost"',
        nextSeq: 20,
      });
      await memory.commit({ append: 1 });
      await memory.refused("a stale update", "VERSION_CONFLICT", stale);
      await memory.check("after a stale update");
    },
  },
  {
    name: "an update with one bad message writes none of the good ones",
    sentence: sentences.invalid,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2 });
      for (const over of [
        { id: "" },
        { id: "a\u0000b" },
        { payload: '"\ud800"' },
        { createdAt: Number.NaN },
      ]) {
        const update = memory.update({
          append: [{}, {}, over],
          replace: [{ seq: 1, payload: '"lost"' }],
          move: [{ seq: 2, to: "removed" }],
          head: '"lost"',
        });
        await memory.refused("an update with a bad message", "INVALID_OPTION", update);
        await memory.check("after an update with a bad message");
      }
    },
  },
  {
    name: "a reader during many updates never sees half of one",
    sentence: sentences.consistent,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4, head: "0" });
      const write = async () => {
        // Each update: the two oldest leave, two new come, the two newest so far change, the head counts.
        for (let round = 1; round <= 60; round++) {
          const [first = 0, second = 0, third = 0, fourth = 0] = memory.model.seqs("live");
          await memory.commit({
            append: [{ payload: `${round}` }, { payload: `${round}` }],
            replace: [third, fourth].map((seq) => ({ seq, payload: `${round}` })),
            move: [first, second].map((seq) => ({ seq, to: "evicted" })),
            head: `${round}`,
          });
        }
      };
      await readWhile(async () => expectWhole(await context.other.getMessages(memory.id)), write);
      await memory.check("after 60 updates");
    },
  },
  {
    name: "a large update appears at once",
    sentence: sentences.atomic,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 300, head: '"before"' });
      const before = memory.model.snapshot().messages.length;
      const seqs = memory.model.seqs("live");
      const update = memory.update({
        append: 400,
        replace: seqs.slice(200).map((seq) => ({ seq, payload: `"changed ${seq}"` })),
        move: seqs.slice(0, 150).map((seq) => ({ seq, to: seq % 3 === 0 ? "removed" : "evicted" })),
        head: '"after"',
      });
      const seen = new Set<string>();
      const read = async () => {
        const { messages, head, version } = await context.other.getMessages(memory.id);
        seen.add(`${messages.length} messages, head ${head}, ${version === update.version}`);
      };
      await readWhile(read, () => memory.send(update, context.store));
      const whole = [
        `${before} messages, head "before", false`,
        `${before + 250} messages, head "after", true`,
      ];
      for (const state of seen)
        expectThat("a reader sees all of an update or none", whole.includes(state), state);
      await memory.check("after a large update");
    },
  },
  {
    name: "a delete that races an append leaves nothing behind",
    sentence: sentences.delete,
    async run(context) {
      for (let round = 0; round < rounds; round++) {
        const memory = context.memory();
        const secret = context.unique();
        await memory.commit({ append: [{ payload: `"${secret}"` }, {}] });
        await expectHeld(context, memory, secret);
        const update = memory.update({
          append: [{ payload: `"${secret}"` }],
          move: [{ seq: 1, to: "evicted" }],
        });
        const [appended] = await race(
          round,
          () => context.other.updateMessages(memory.id, update),
          () => context.store.deleteMessages(memory.id),
        );
        expectSettled("an append that races a delete", appended, "VERSION_CONFLICT");
        memory.model.delete();
        await memory.check("after a delete raced an append");
        const what = "the database holds nothing of the raced append, before any sweep";
        await expectErased(what, context, memory, secret);
        await memory.commit({ append: 1 });
        await memory.check("of the memory that began after the race");
      }
    },
  },
  {
    name: "a delete that races a beginning leaves all of it or nothing",
    sentence: sentences.atomic,
    async run(context) {
      for (let round = 0; round < rounds; round++) {
        const memory = context.memory();
        const update = memory.update({ append: 3, owner: "alice", head: "1" });
        const results = await race(
          round,
          () => context.other.updateMessages(memory.id, update),
          () => context.store.deleteMessages(memory.id),
        );
        for (const result of results) expectSettled("a beginning that races a delete", result);
        const { version } = await context.store.getMessages(memory.id);
        if (version !== null) memory.model.apply(update);
        await memory.check("after a delete raced the beginning");
      }
    },
  },
]);

/** Of the four live messages all carry the number that the head counts, in every state between two updates. */
function expectWhole({ messages, head, nextSeq }: MemorySnapshot): void {
  expectEqual("the number of live messages while another client writes", messages.length, 4);
  if (head === "0") return;
  const payloads = messages.map(({ payload }) => payload);
  expectEqual(`payloads while the head says ${head}`, payloads, [head, head, head, head]);
  expectEqual("nextSeq after the newest message", nextSeq, (messages.at(-1)?.seq ?? 0) + 1);
}
