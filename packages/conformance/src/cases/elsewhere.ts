import type { ChatMemoryStore } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import { withElsewhere } from "../elsewhere.ts";
import { expectEqual } from "../support/expect.ts";
import { expectListed, expectUnlisted } from "../support/listed.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { all, turns } from "../support/races.ts";
import { expectOneWins } from "../support/rivals.ts";
import { sentences } from "../support/sentences.ts";

const requires = { shared: true };
const needs = ["elsewhere"] as const;

/** How many messages each of two processes appends. */
const appends = 60;

const changes: readonly (readonly [what: string, change: Change])[] = [
  ["appended", { append: 1 }],
  ["appended and evicted", { append: 1, move: [{ seq: 1, to: "evicted" }] }],
  ["replaced", { replace: [{ seq: 2, payload: '"changed elsewhere"' }], head: "2" }],
  ["removed", { move: [{ seq: 2, to: "removed" }] }],
];

export const seenElsewhereCases: readonly ConformanceCase[] = inGroup("basic", [
  {
    name: "a process sees at once what another wrote",
    sentence: sentences.shared,
    requires,
    needs,
    run: (context) =>
      withElsewhere(context, async (elsewhere) => {
        const { store } = context;
        const memory = context.memory();
        const owner = context.unique();
        await memory.commit({ append: 3, owner, head: "1" });
        for (const [what, change] of changes) {
          // Whoever keeps what it has read has it now.
          for (const client of [store, elsewhere]) await lookUp(memory, "before a change", client);
          const known = memory.model.version ?? "";
          await memory.commit(change, elsewhere);
          await memory.checkKnown(
            `after another process ${what}, by who knew the version before`,
            known,
            store,
          );
          await lookUp(memory, `after another process ${what}`, store);
        }
        await memory.commit({ append: 1 });
        await lookUp(memory, "after this process appended, by another", elsewhere);
        await expectListed("an owner's list before another process deleted", store, { owner }, [memory]);
        await memory.delete(elsewhere);
        await lookUp(memory, "after another process deleted", store);
        await expectUnlisted("after another process deleted", store, owner, memory);
        await memory.commit({ append: 2, owner }, elsewhere);
        await lookUp(memory, "after another process began it anew", store);
        await expectListed("an owner's list after another process began", store, { owner }, [memory]);
      }),
  },
]);

export const racesElsewhereCases: readonly ConformanceCase[] = inGroup("versions", [
  {
    name: "writers in two processes all land once",
    sentence: sentences.expected,
    requires,
    needs,
    heavy: true,
    run: (context) =>
      withElsewhere(context, async (elsewhere) => {
        const memory = context.memory();
        await memory.commit();
        const names = [context.unique(), context.unique()] as const;
        await all([
          elsewhere.appendMany(memory.id, appends, names[0]),
          appendMany(context.store, memory, names[1]),
        ]);
        const { messages, nextSeq } = await context.other.getMessages(memory.id);
        const wanted = names.flatMap((name) =>
          Array.from({ length: appends }, (_, index) => `${name}${index}`),
        );
        expectEqual(
          `the ids of ${wanted.length} messages that two processes appended`,
          messages.map(({ id }) => id).sort(),
          wanted.sort(),
        );
        expectEqual("nextSeq after them", nextSeq, wanted.length + 1);
      }),
  },
  {
    name: "of two beginnings in two processes exactly one wins",
    sentence: sentences.expected,
    requires,
    needs,
    run: (context) =>
      withElsewhere(context, async (elsewhere) => {
        for (let round = 0; round < 20; round++) {
          const memory = context.memory();
          const updates = [memory.update({ append: 2 }), memory.update({ append: 3 })] as const;
          const clients = { store: context.store, other: elsewhere };
          await expectOneWins("beginnings in two processes", clients, memory, round, updates);
          for (const client of [context.store, elsewhere])
            await memory.check("after beginnings in two processes", client);
        }
      }),
  },
]);

/** In every way, of which a store may keep each for itself. */
async function lookUp(memory: TestMemory, what: string, client: ChatMemoryStore): Promise<void> {
  await memory.check(what, client);
  if (client.capabilities.history) await memory.checkHistory(what, { ids: ["m1", "m4", "m5"] }, client);
}

/** Appends in this process, as `appendMany` of a client elsewhere does. */
async function appendMany(store: ChatMemoryStore, memory: TestMemory, name: string): Promise<void> {
  for (let added = 0; added < appends; ) {
    const { version: expected, nextSeq: seq } = await store.getMessages(memory.id);
    const append = [memory.message(seq, { id: `${name}${added}` })];
    const version = `${name}${added}-${seq}`;
    try {
      await store.updateMessages(memory.id, {
        ...{ expected, version, append, nextSeq: seq + 1 },
        ...{ replace: [], move: [] },
      });
      added++;
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
    // A driver that never waits would keep the answers of the other process from coming in.
    await turns(1);
  }
}
