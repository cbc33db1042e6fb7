import type { StoredMessage } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectHeld } from "../support/erased.ts";
import { expectEqual, expectThat, named } from "../support/expect.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

/** What can be done with a message whose record is gone: the first live one, one between two, the newest. */
const uses: readonly (readonly [what: string, use: (memory: TestMemory, seq: number) => Promise<unknown>])[] =
  [
    ["removed", (memory, seq) => memory.commit({ move: [{ seq, to: "removed" }] })],
    ["replaced", (memory, seq) => memory.commit({ replace: [{ seq, payload: '"restored"' }] })],
    [
      "replaced, as the newest is added",
      (memory, seq) => memory.commit({ append: 1, replace: [{ seq, payload: '"restored"' }] }),
    ],
  ];

export const lostRecordsCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "a live message whose record is gone stands in its place, and hides no other",
    sentence: sentences.lost,
    needs: ["rawRead", "rawRemove"],
    async run(context) {
      for (const [index, [what, use]] of uses.entries()) {
        const seq = index + 2;
        const memory = await loseRecord(context, seq);
        if (memory === undefined) continue;
        await expectInPlace(memory, seq, context);
        await takeOverId(memory, seq, context);
        await memory.commit({ append: 1 });
        await expectInPlace(memory, seq, context);
        await use(memory, seq);
        await memory.check(`after a message whose record was gone was ${what}`, context.other);
      }
    },
  },
  {
    name: "a message whose record is gone leaves memory like any other",
    sentence: sentences.lost,
    needs: ["rawRead", "rawRemove"],
    async run(context) {
      for (const to of ["evicted", "superseded"] as const) {
        const memory = await loseRecord(context, 3);
        if (memory === undefined) continue;
        await memory.commit({ append: 1, move: [{ seq: 3, to }] });
        const { messages } = await named("getMessages", context.other.getMessages(memory.id));
        expectEqual(
          `the live messages after a lost one was ${to}`,
          messages,
          memory.model.snapshot().messages,
        );
      }
    },
  },
]);

/** Large, so that a database that keeps small messages together keeps these apart. */
const padding = "x".repeat(100_000);

/**
 * A memory of four messages, the first evicted, of which the record of one is gone. `undefined` where the database keeps
 * no record of that message alone: then there is none to lose.
 */
async function loseRecord(context: ConformanceContext, seq: number): Promise<TestMemory | undefined> {
  const memory = context.memory();
  const start = context.unique();
  const marks = [1, 2, 3, 4].map((n) => `${start} ${n} `);
  const append = marks.map((mark) => ({ payload: JSON.stringify(mark + padding) }));
  await memory.commit({ append, owner: context.unique(), head: '"head"' });
  await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
  await expectHeld(context, memory, start);
  const isOnly = (text: string): boolean =>
    marks.every((mark, index) => text.includes(mark) === (index === seq - 1));
  return (await context.lose(memory.id, isOnly)) ? memory : undefined;
}

/** The message keeps the id that it is shown under, its own or one that stands in for it. */
async function takeOverId(memory: TestMemory, seq: number, { store }: ConformanceContext): Promise<void> {
  const { messages } = await store.getMessages(memory.id);
  const row = memory.model.rows.get(seq);
  const shown = messages.find((message) => message.seq === seq);
  if (row !== undefined && shown !== undefined) memory.model.rows.set(seq, { ...row, id: shown.id });
}

/** The memory is as its model says, but for that message, of which its place is left. */
async function expectInPlace(
  memory: TestMemory,
  seq: number,
  { store, other, capabilities }: ConformanceContext,
): Promise<void> {
  const expected = memory.model.snapshot();
  const { messages, ...head } = await named("getMessages beside a lost record", other.getMessages(memory.id));
  const { messages: live, ...expectedHead } = expected;
  expectEqual("the memory of which a record is lost", head, expectedHead);
  expectPlaces("getMessages", messages, live, seq);
  if (!capabilities.history) return;
  const page = await named("getHistory beside a lost record", store.getHistory(memory.id, { limit: 1000 }));
  expectPlaces("getHistory", page.messages, memory.model.history({ limit: 1000 }).messages, seq);
  const rest = await store.getHistory(memory.id, { states: ["live"], order: "descending", limit: 1000 });
  expectPlaces("getHistory of the live ones, newest first", rest.messages.toReversed(), live, seq);
  const ids = messages.map(({ id }) => id);
  const byId = await store.getHistory(memory.id, { ids });
  expectPlaces("getHistory by the ids that getMessages shows", byId.messages, live, seq);
}

function expectPlaces(
  call: string,
  seen: readonly StoredMessage[],
  expected: readonly StoredMessage[],
  lost: number,
): void {
  const what = `${call} where the record of seq ${lost} is lost`;
  expectEqual(
    `seqs of ${what}`,
    seen.map(({ seq }) => seq),
    expected.map(({ seq }) => seq),
  );
  for (const [index, message] of seen.entries()) {
    if (message.seq !== lost) {
      expectEqual(`seq ${message.seq} of ${what}`, plain(message), plain(expected[index] as StoredMessage));
      continue;
    }
    expectEqual(`the payload of the lost message in ${what}`, message.payload, "");
    expectThat(
      `the lost message of ${what} has an id`,
      typeof message.id === "string" && message.id !== "",
      message.id,
    );
  }
}

function plain({ id, seq, createdAt, payload, meta }: StoredMessage): unknown {
  return { id, seq, createdAt, payload, meta };
}
