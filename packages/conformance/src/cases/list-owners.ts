import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual, expectSettled } from "../support/expect.ts";
import { expectListed, listed } from "../support/listed.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { race, turns } from "../support/races.ts";
import { expectOneWins } from "../support/rivals.ts";
import { sentences } from "../support/sentences.ts";

const requires = { list: true };

export const listOwnersCases: readonly ConformanceCase[] = inGroup("list", [
  {
    name: "a memory that gets another owner is in that list, and in the old one no more",
    sentence: sentences.assigned,
    requires,
    async run(context) {
      const [guest, user] = [context.unique(), context.unique()];
      const staying = context.memory();
      await staying.commit({ append: 1, owner: guest });
      // An owner alone, one with an append, and one of a memory that had none.
      const changes: readonly (readonly [begun: string | undefined, change: Change])[] = [
        [guest, { owner: user }],
        [guest, { append: 1, owner: user }],
        [guest, { append: 1, move: [{ seq: 1, to: "evicted" }], owner: user, head: "1" }],
        [undefined, { owner: user }],
      ];
      const assigned: TestMemory[] = [];
      for (const [owner, change] of changes) {
        const memory = context.memory();
        await memory.commit({ append: 2, owner });
        await memory.commit(change);
        assigned.push(memory);
        for (const client of [context.store, context.other]) {
          await expectListed("the list of the new owner", client, { owner: user, limit: 2 }, assigned);
          await expectListed("the list of the owner before", client, { owner: guest }, [staying]);
          const entry = await listed(client, undefined, memory.id);
          expectEqual("the owner that everybody's list names", entry?.owner, user);
        }
        await memory.commit({ append: 1 });
        await memory.check("after its owner has changed");
      }
      await expectListed(
        "the list of the new owner, after later appends",
        context.store,
        { owner: user },
        assigned,
      );
    },
  },
  {
    name: "an owner that comes back has the memory once, and a deleted one is in no list",
    sentence: sentences.assigned,
    requires,
    async run(context) {
      const [one, two] = [context.unique(), context.unique()];
      const memory = context.memory();
      await memory.commit({ append: 1, owner: one });
      for (const owner of [two, one, two, one]) await memory.commit({ owner });
      await expectListed("the list of the first owner", context.store, { owner: one }, [memory]);
      await expectListed("the list of the second owner", context.store, { owner: two }, []);
      await memory.commit({ owner: two });
      await memory.delete();
      for (const owner of [one, two])
        await expectListed("an owner's list after the memory was deleted", context.other, { owner }, []);
      await memory.commit({ append: 1, owner: one });
      await expectListed("the list of the first owner, after it began again", context.store, { owner: one }, [
        memory,
      ]);
      await expectListed(
        "the list of the second owner, after it began again",
        context.store,
        { owner: two },
        [],
      );
    },
  },
  {
    name: "of two owners in a race one has the memory, in its list and no other",
    sentence: sentences.assigned,
    requires: { list: true, shared: true },
    async run(context) {
      const owners = Array.from({ length: 3 }, () => context.unique());
      const memory = context.memory();
      await memory.commit({ append: 1, owner: owners[0] });
      for (let round = 1; round <= 6; round++) {
        const second = round % 2 === 0 ? { append: 1 } : { owner: owners[(round + 1) % 3] };
        const updates = [memory.update({ owner: owners[round % 3] }), memory.update(second)] as const;
        await expectOneWins("changes of the owner", context, memory, round, updates);
        for (const owner of owners) {
          const wanted = memory.model.owner === owner ? [memory] : [];
          await expectListed("an owner's list after a race", context.other, { owner }, wanted);
        }
      }
    },
  },
  {
    name: "a delete beside a change of the owner leaves no entry in either owner's list",
    sentence: sentences.assigned,
    requires: { list: true, shared: true },
    async run(context) {
      for (let round = 0; round < 20; round++) {
        const [guest, user] = [context.unique(), context.unique()];
        const memory = context.memory();
        const { version } = await memory.commit({ append: 1, owner: guest });
        // Whatever is there, or the version that the change replaces: then only one of the two takes place.
        const expected = round % 4 < 2 ? undefined : version;
        const change = memory.update({ owner: user });
        // The one that begins second comes a little later each time.
        const late = (isSecond: boolean) => turns(isSecond ? round % 5 : 0);
        const [deleted, assigned] = await race(
          round,
          async () => {
            await late(round % 2 === 1);
            await context.store.deleteMessages(memory.id, { expected });
          },
          async () => {
            await late(round % 2 === 0);
            await context.other.updateMessages(memory.id, change);
          },
        );
        const codes = expected === undefined ? [] : (["VERSION_CONFLICT"] as const);
        const isDeleted = expectSettled("a delete beside a change of the owner", deleted, ...codes);
        expectSettled("a change of the owner beside a delete", assigned, "VERSION_CONFLICT");
        if (isDeleted) memory.model.delete();
        else memory.model.apply(change);
        const what = "after a delete beside a change of the owner";
        await memory.check(what, context.other);
        const wanted = isDeleted ? [] : [memory];
        await expectListed(`the new owner's list ${what}`, context.store, { owner: user }, wanted);
        await expectListed(`the list of the owner before, ${what}`, context.store, { owner: guest }, []);
      }
    },
  },
  {
    name: "a listed memory has the data that its last update left",
    sentence: sentences.data,
    requires,
    async run(context) {
      const owner = context.unique();
      const [titled, plain] = [context.memory(), context.memory()];
      await titled.commit({ owner, data: '{"title":"🙂"}' });
      await plain.commit({ append: 1, owner });
      const changes: Change[] = [
        {},
        { append: 1 },
        { data: '{"title":"other"}' },
        { append: 1, head: "1" },
        { data: "" },
        { data: JSON.stringify("x".repeat(8190)) },
        { append: 1 },
      ];
      for (const change of changes) {
        await titled.commit(change);
        for (const of of [owner, undefined]) {
          const entry = await listed(context.store, of, titled.id);
          expectEqual("the data of a listed memory", entry?.data, titled.model.data);
          const other = await listed(context.other, of, plain.id);
          expectEqual("the data of a listed memory that has none", other?.data, undefined);
        }
      }
    },
  },
]);
