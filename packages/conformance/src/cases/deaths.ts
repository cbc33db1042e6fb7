import type { MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectEqual, expectSecret } from "../support/expect.ts";
import { largeUpdate } from "../support/large.ts";
import { expectListed, expectUnlisted } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";
import { fewSteps, manySteps, untilItLives } from "../support/steps.ts";

export const deathsCases: readonly ConformanceCase[] = inGroup("atomicity", [
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
]);

/**
 * Sends an update, or without one a delete, by a client that dies at a step, and answers how that ended. The model
 * follows where it took place; fails where it did not and was acknowledged.
 */
async function dies(
  what: string,
  { dying, store }: ConformanceContext,
  { id, model }: TestMemory,
  { step, update }: { readonly step: number; readonly update?: MemoryUpdate },
): Promise<PromiseSettledResult<void>> {
  const client = await dying(step);
  const call = update === undefined ? client.deleteMessages(id) : client.updateMessages(id, update);
  const [ended] = await Promise.allSettled([call]);
  const { version } = await store.getMessages(id);
  if (version !== (update?.version ?? null)) {
    expectEqual(`whether ${what} that died at write ${step} was acknowledged`, ended.status, "rejected");
  } else if (update === undefined) model.delete();
  else model.apply(update);
  return ended;
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
  const ended = await dies("an update", context, memory, { step, update });
  if (ended.status === "rejected" && isTurnkeepError(ended.reason)) {
    expectSecret(`the error for a write that failed (${ended.reason.code})`, ended.reason, secret);
  }
  const what = `after an update died at write ${step}`;
  await memory.check(what, context.other);
  await context.other.sweep();
  await memory.check(`${what}, and a sweep`);
  await memory.commit({ append: 2, move: [{ seq: 4, to: "evicted" }] });
  await memory.check(`${what}, and another update`, context.other);
  return ended.status === "fulfilled";
}

/** The same with an update that a store may have to write in portions. */
async function diesInLarge(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  await memory.commit({ append: 200, head: "1" });
  const update = largeUpdate(memory, "died");
  const ended = await dies("a large update", context, memory, { step, update });
  const what = `after a large update died at write ${step}`;
  await memory.check(what, context.other);
  await memory.commit({ append: 2, move: [{ seq: 150, to: "evicted" }] });
  await memory.check(`${what}, and another update`, context.other);
  await context.other.sweep();
  await memory.send(largeUpdate(memory, "next"));
  await memory.check(`${what}, and a sweep, and another large update`);
  return ended.status === "fulfilled";
}

/** A beginning by a client that dies at a step; answers whether it had ended before. */
async function diesInBeginning(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  const [owner, next] = [context.unique(), context.unique()];
  const update = memory.update({
    append: [{ payload: '"died"' }, { payload: JSON.stringify("died".repeat(80_000)) }, {}],
    move: [{ seq: 3, to: "evicted" }],
    head: "1",
    owner,
  });
  const ended = await dies("a beginning", context, memory, { step, update });
  const what = `after a beginning died at write ${step}`;
  if (memory.model.version === null) await expectUnlisted(what, context.store, owner, memory);
  await memory.check(what, context.other);
  await context.other.sweep();
  await memory.check(`${what}, and a sweep`);
  await memory.commit({ append: 2, owner: next });
  await memory.check(`${what}, and another update`, context.other);
  const stranger = memory.model.owner === owner ? next : owner;
  const whose = `the list of an owner who is not the memory's, ${what}`;
  await expectListed(whose, context.store, { owner: stranger }, []);
  return ended.status === "fulfilled";
}

/** A delete by a client that dies at a step; answers whether it had ended before. */
async function diesInDelete(context: ConformanceContext, step: number): Promise<boolean> {
  const memory = context.memory();
  const [owner, next] = [context.unique(), context.unique()];
  await memory.commit({ append: 130, owner, head: "1" });
  const large = { payload: JSON.stringify("x".repeat(300_000)) };
  await memory.commit({ append: [large, {}], move: [1, 131].map((seq) => ({ seq, to: "evicted" })) });
  const ended = await dies("a delete", context, memory, { step });
  const what = `after a delete died at write ${step}`;
  if (memory.model.version === null) await expectUnlisted(what, context.store, owner, memory);
  await memory.check(what, context.other);
  await memory.commit({ append: 2, owner: next });
  await memory.check(`${what}, and another update`, context.other);
  await memory.commit({ append: 140 });
  await context.other.sweep();
  await memory.check(`${what}, another two, and a sweep`);
  return ended.status === "fulfilled";
}
