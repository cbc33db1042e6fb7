import type { ChatMemoryStore } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectHeld } from "../support/erased.ts";
import { describeError, expectEqual, expectSecret, expectThat, named } from "../support/expect.ts";
import { idsOf, listedIds, wholeList } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

/** What becomes of a stored text, by its index. */
type Damage = (text: string, index: number) => string;

/**
 * What happens to a stored text: it is overwritten, lost, cut off as by a full disk, or of another kind. No two become
 * the same, as a database may hold texts, such as ids, under a unique index.
 */
const damages: readonly (readonly [what: string, change: Damage])[] = [
  ["overwritten", (_, index) => `damaged ${index}`],
  ["emptied", (_, index) => " ".repeat(index)],
  ["cut in half", (text, index) => `${text.slice(0, Math.floor(text.length / 2))}…${index}`],
  ["replaced by null", (_, index) => `null${" ".repeat(index)}`],
];

export const damageCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "a corrupt record is named, and does not hide the others",
    sentence: sentences.corrupt,
    needs: ["rawRead", "rawWrite"],
    async run(context) {
      for (const [what, change] of damages) await expectContained(context, what, change);
    },
  },
  {
    name: "whatever record is gone, no other memory is harmed, and this one can be deleted",
    sentence: sentences.gone,
    needs: ["rawRead", "rawRemove"],
    async run(context) {
      for (let index = 0; index < mostRecords; index++) {
        if (!(await expectBearable(context, index))) return;
      }
    },
  },
]);

/** More texts than a store keeps of two messages and their memory. */
const mostRecords = 24;

/** Begins a memory and removes the record that holds its text of that index; answers whether there was one. */
async function expectBearable(context: ConformanceContext, index: number): Promise<boolean> {
  const { store, other, capabilities } = context;
  const owner = context.unique();
  const [before, damaged, after] = [context.memory(), context.memory(), context.memory()];
  const secret = `secret-${context.unique()}`;
  const said = { payload: `"${secret}"` };
  for (const memory of [before, damaged, after]) {
    await memory.commit({ append: [said, said], owner, head: '"head"' });
    await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
  }
  await expectHeld(context, damaged, secret);
  let count = 0;
  if (!(await context.lose(damaged.id, () => count++ === index))) return false;
  const what = `of which record ${index} is gone`;
  const calls = [["getMessages", () => store.getMessages(damaged.id)] as const];
  if (capabilities.history) calls.push(["getHistory", () => store.getHistory(damaged.id, {})] as never);
  for (const [method, call] of calls) {
    const [ended] = await Promise.allSettled([call()]);
    if (ended.status === "rejected")
      expectNamed(`${method} of a memory ${what}`, ended.reason, { memoryId: damaged.id, secret });
  }
  await expectUnharmed(context, owner, [before, after], `a memory ${what}`);
  await damaged.delete();
  await damaged.check(`that was deleted, ${what}`);
  await damaged.commit({ append: 1, owner: context.unique() });
  await damaged.check(`begun anew after one ${what}`, other);
  return true;
}

async function expectContained(context: ConformanceContext, what: string, change: Damage): Promise<void> {
  const { store, capabilities } = context;
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

  await expectUnharmed(context, owner, [before, after], `a record that was ${what}`);
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

/** Fails unless the memories beside what is damaged are as they were, are found, outlive a sweep and go on. */
async function expectUnharmed(
  { store, other, capabilities }: ConformanceContext,
  owner: string,
  memories: readonly TestMemory[],
  damaged: string,
): Promise<void> {
  for (const memory of memories) await memory.check(`beside ${damaged}`, other);
  if (capabilities.list) await expectFound(store, owner, idsOf(memories));
  await named(`sweep beside ${damaged}`, store.sweep());
  for (const memory of memories) await memory.commit({ append: 1 });
}

async function expectFound(store: ChatMemoryStore, owner: string, ids: readonly string[]): Promise<void> {
  for (const query of [{ owner }, {}]) {
    const found = listedIds(await wholeList(store, { ...query, limit: 1000 }));
    const missing = ids.filter((id) => !found.includes(id));
    expectEqual("the good memories that a list beside a corrupt record misses", missing, []);
  }
}
