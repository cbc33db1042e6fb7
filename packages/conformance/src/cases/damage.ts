import type { ChatMemoryStore } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { describeError, expectEqual, expectSecret, expectThat } from "../support/expect.ts";
import { listedIds, wholeList } from "../support/listed.ts";
import { sentences } from "../support/sentences.ts";

/** What happens to a stored text: it is overwritten, lost, cut off as by a full disk, or of another kind. */
const damages: readonly (readonly [what: string, change: (text: string) => string])[] = [
  ["overwritten", () => "damaged"],
  ["emptied", () => ""],
  ["cut in half", (text) => text.slice(0, Math.floor(text.length / 2))],
  ["replaced by null", () => "null"],
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
]);

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
