import type { ChatMemoryStore } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { describeError, expectEqual, expectSecret, expectThat } from "../expect.ts";
import { largeUpdate } from "../large.ts";
import { expectListed, expectUnlisted, listedIds, wholeList } from "../listed.ts";
import { sentences } from "../sentences.ts";

/** What happens to a stored text: it is overwritten, lost, cut off as by a full disk, or of another kind. */
const damages: readonly (readonly [what: string, change: (text: string) => string])[] = [
  ["overwritten", () => "damaged"],
  ["emptied", () => ""],
  ["cut in half", (text) => text.slice(0, Math.floor(text.length / 2))],
  ["replaced by null", () => "null"],
];

/**
 * More steps than any call of these cases takes, in a store that sends messages one by one or their texts in small
 * pieces: one that reaches it repeats itself.
 */
const mostSteps = 10_000;

/** The first steps each, and then some of them. */
function* steps(each: number): Generator<number, void> {
  for (let step = 1; step <= mostSteps; step = step < each ? step + 1 : Math.ceil(step * 1.5)) yield step;
}

/** Of an update of a few messages. */
const fewSteps = () => steps(24);
/** Of what touches hundreds of messages. */
const manySteps = () => steps(12);

/** Lets a call die at one step after another, until it has ended before. */
async function untilItLives(
  what: string,
  dyingAt: Iterable<number>,
  endsBefore: (step: number) => Promise<boolean>,
): Promise<void> {
  for (const step of dyingAt) if (await endsBefore(step)) return;
  expectThat(`${what} takes fewer than ${mostSteps} writes`, false, mostSteps);
}

export const damageCases: readonly ConformanceCase[] = [
  ...inGroup("errors", [
    {
      name: "a corrupt record is named, and does not hide the others",
      sentence: sentences.corrupt,
      needs: ["rawRead", "rawWrite"],
      async run(context) {
        for (const [what, change] of damages) await expectContained(context, what, change);
      },
    },
  ]),
  ...inGroup("atomicity", [
    {
      name: "a process that dies between two steps of an update leaves all of it or none",
      sentence: sentences.atomic,
      requires: { shared: true },
      needs: ["fault"],
      run: (context) => untilItLives("an update", fewSteps(), (step) => diesAt(context, step)),
    },
    {
      name: "a process that dies between two steps of a large update leaves all of it or none",
      sentence: sentences.atomic,
      requires: { shared: true },
      needs: ["fault"],
      heavy: true,
      run: (context) => untilItLives("a large update", manySteps(), (step) => diesInLarge(context, step)),
    },
    {
      name: "a process that dies between two steps of a beginning leaves all of it or nothing",
      sentence: sentences.atomic,
      requires: { shared: true },
      needs: ["fault"],
      run: (context) => untilItLives("a beginning", fewSteps(), (step) => diesInBeginning(context, step)),
    },
    {
      name: "a process that dies between two steps of a delete leaves the memory whole or absent",
      sentence: sentences.delete,
      requires: { shared: true },
      needs: ["fault"],
      heavy: true,
      run: (context) => untilItLives("a delete", manySteps(), (step) => diesInDelete(context, step)),
    },
  ]),
];

async function expectContained(
  context: ConformanceContext,
  what: string,
  change: (text: string) => string,
): Promise<void> {
  const { store, other, capabilities } = context;
  const owner = context.unique();
  const secret = `secret-${context.unique()}`;
  const [before, damaged, after] = [context.memory(), context.memory(), context.memory()];
  for (const memory of [before, damaged, after]) {
    await memory.commit({ append: [{ payload: `"${secret}"` }, {}, {}], owner, head: `"${secret}"` });
    await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
  }
  const texts = await context.damage(damaged.id, change);
  expectThat("rawRead answers what the database holds of a memory", texts > 0, texts);

  // A payload is opaque to the store, so one that is damaged may come back; but the memory is there, not absent.
  const [read] = await Promise.allSettled([store.getMessages(damaged.id)]);
  if (read.status === "rejected")
    expectNamed(`getMessages of a record that was ${what}`, read.reason, { memoryId: damaged.id, secret });
  else {
    const there = read.value.version !== null;
    expectThat(
      `a memory whose record was ${what} is CORRUPT_RECORD or what is left of it, never absent`,
      there,
      read.value,
    );
  }
  if (capabilities.history) {
    const [page] = await Promise.allSettled([store.getHistory(damaged.id, {})]);
    if (page.status === "rejected")
      expectNamed(`getHistory of a record that was ${what}`, page.reason, { memoryId: damaged.id, secret });
  }

  for (const memory of [before, after]) await memory.check(`beside a record that was ${what}`, other);
  if (capabilities.list) await expectFound(store, owner, [before.id, after.id]);
  await store.sweep();
  for (const memory of [before, after]) await memory.commit({ append: 1 });
  await damaged.delete();
  await damaged.check(`of a record that was ${what}, then deleted`);
  await damaged.commit({ append: 1 });
  await damaged.check(`of a memory begun anew where a record was ${what}`);
}

function expectNamed(
  what: string,
  error: unknown,
  { memoryId, secret }: { readonly memoryId: string; readonly secret: string },
): void {
  const corrupt = isTurnkeepError(error, "CORRUPT_RECORD");
  expectThat(`${what} is CORRUPT_RECORD`, corrupt, describeError(error));
  expectEqual(`the memory that the error for ${what} names`, error.details.memoryId, memoryId);
  expectSecret(`the error for ${what}`, error, secret);
}

async function expectFound(store: ChatMemoryStore, owner: string, ids: readonly string[]): Promise<void> {
  for (const query of [{ owner }, {}]) {
    const found = listedIds(await wholeList(store, { ...query, limit: 1000 }));
    const missing = ids.filter((id) => !found.includes(id));
    expectEqual("the good memories that a list beside a corrupt record misses", missing, []);
  }
}

/** One update by a client that dies at a step; answers whether the update had ended before. */
async function diesAt(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  await memory.commit({ append: 5, head: "1" });
  const secret = `secret-${context.unique()}`;
  const update = memory.update({
    append: [{ payload: `"${secret}"` }, {}, {}],
    replace: [{ seq: 2, payload: '"new"' }],
    move: [
      { seq: 1, to: "evicted" },
      { seq: 3, to: "removed" },
      { seq: 6, to: "superseded" },
    ],
    head: "2",
  });
  const client = await context.dying(step);
  const [result] = await Promise.allSettled([client.updateMessages(memory.id, update)]);
  if (result?.status === "rejected" && isTurnkeepError(result.reason)) {
    expectSecret(`the error for a write that failed (${result.reason.code})`, result.reason, secret);
  }
  const { version } = await context.store.getMessages(memory.id);
  if (version === update.version) memory.model.apply(update);
  else
    expectEqual(`whether the update that died at write ${step} was acknowledged`, result?.status, "rejected");
  const what = `after an update died at write ${step}`;
  await memory.check(what, context.other);
  await context.other.sweep();
  await memory.check(`${what}, and a sweep`);
  await memory.commit({ append: 2, move: [{ seq: 4, to: "evicted" }] });
  await memory.check(`${what}, and another update`, context.other);
  return result?.status === "fulfilled";
}

/** The same with an update that a store may have to write in portions. */
async function diesInLarge(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  await memory.commit({ append: 200, head: "1" });
  const update = largeUpdate(memory, "died");
  const client = await context.dying(step);
  const [result] = await Promise.allSettled([client.updateMessages(memory.id, update)]);
  const { version } = await context.store.getMessages(memory.id);
  if (version === update.version) memory.model.apply(update);
  else
    expectEqual(`whether an update that died at write ${step} was acknowledged`, result?.status, "rejected");
  const what = `after a large update died at write ${step}`;
  await memory.check(what, context.other);
  await memory.commit({ append: 2, move: [{ seq: 150, to: "evicted" }] });
  await memory.check(`${what}, and another update`, context.other);
  await context.other.sweep();
  await memory.send(largeUpdate(memory, "next"));
  await memory.check(`${what}, and a sweep, and another large update`);
  return result?.status === "fulfilled";
}

/** A beginning by a client that dies at a step; answers whether it had ended before. */
async function diesInBeginning(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  const [owner, next] = [context.unique(), context.unique()];
  const beginning = memory.update({
    append: [{ payload: '"died"' }, { payload: JSON.stringify("died".repeat(80_000)) }, {}],
    move: [{ seq: 3, to: "evicted" }],
    head: "1",
    owner,
  });
  const client = await context.dying(step);
  const [result] = await Promise.allSettled([client.updateMessages(memory.id, beginning)]);
  const { version } = await context.store.getMessages(memory.id);
  const what = `after a beginning died at write ${step}`;
  if (version !== null) memory.model.apply(beginning);
  else {
    expectEqual(
      `whether a beginning that died at write ${step} was acknowledged`,
      result?.status,
      "rejected",
    );
    await expectUnlisted(what, context.store, owner, memory);
  }
  await memory.check(what, context.other);
  await context.other.sweep();
  await memory.check(`${what}, and a sweep`);
  await memory.commit({ append: 2, owner: next });
  await memory.check(`${what}, and another update`, context.other);
  const stranger = memory.model.owner === owner ? next : owner;
  const whose = `the list of an owner who is not the memory's, ${what}`;
  await expectListed(whose, context.store, { owner: stranger }, []);
  return result?.status === "fulfilled";
}

/** A delete by a client that dies at a step; answers whether it had ended before. */
async function diesInDelete(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  const [owner, next] = [context.unique(), context.unique()];
  await memory.commit({ append: 130, owner, head: "1" });
  const large = { payload: JSON.stringify("x".repeat(300_000)) };
  await memory.commit({ append: [large, {}], move: [1, 131].map((seq) => ({ seq, to: "evicted" })) });
  const client = await context.dying(step);
  const [result] = await Promise.allSettled([client.deleteMessages(memory.id)]);
  const { version } = await context.store.getMessages(memory.id);
  const what = `after a delete died at write ${step}`;
  if (version === null) {
    memory.model.delete();
    await expectUnlisted(what, context.store, owner, memory);
  } else
    expectEqual(`whether a delete that died at write ${step} was acknowledged`, result?.status, "rejected");
  await memory.check(what, context.other);
  await memory.commit({ append: 2, owner: next });
  await memory.check(`${what}, and another update`, context.other);
  await memory.commit({ append: 140 });
  await context.other.sweep();
  await memory.check(`${what}, another two, and a sweep`);
  return result?.status === "fulfilled";
}
