import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual } from "../support/expect.ts";
import { expectUnlisted } from "../support/listed.ts";
import type { Change } from "../support/memory.ts";
import { all, inPortions } from "../support/races.ts";
import { expectOneWins } from "../support/rivals.ts";
import { sentences } from "../support/sentences.ts";
import { alike } from "../support/texts.ts";

const rounds = 20;

export const versionsCases: readonly ConformanceCase[] = inGroup("versions", [
  {
    name: "an update of an earlier version conflicts",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      const changes: Change[] = [
        { append: 1 },
        { replace: [{ seq: 1, payload: '"lost"' }] },
        { move: [{ seq: 2, to: "evicted" }] },
        {},
      ];
      // By the time they come, what they name has left: that is the conflict's doing, and no fault of theirs.
      const stale = changes.map((change) => memory.update(change));
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      await memory.commit({ move: [{ seq: 2, to: "removed" }] });
      for (const client of [context.store, context.other]) {
        for (const update of stale) {
          await memory.refused("an update of an earlier version", "VERSION_CONFLICT", update, client);
        }
      }
      await memory.check("after a conflict");
    },
  },
  {
    name: "an append conflicts if the head alone has changed since",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2 });
      // No seq was given out meanwhile, so nothing but the version tells.
      const stale = memory.update({ append: 1 });
      await memory.commit({ head: '"changed"' });
      for (const client of [context.store, context.other]) {
        await memory.refused("an append of an earlier version", "VERSION_CONFLICT", stale, client);
      }
      await memory.check("after a conflict");
    },
  },
  {
    name: "an update of a version that never was conflicts",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const update = { ...memory.update({ append: 1 }), expected: context.unique() };
      await memory.refused("an update of a version that never was", "VERSION_CONFLICT", update);
      await memory.check("after a conflict");
    },
  },
  {
    name: "a beginning conflicts where a memory is",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      const again = memory.update({ append: 2, owner: "mallory", head: '"lost"' });
      await memory.commit({ append: 1 });
      await memory.refused("an update that expects no memory", "VERSION_CONFLICT", again);
      await memory.check("after a second beginning");
    },
  },
  {
    name: "an update of an absent memory conflicts and does not begin it",
    sentence: sentences.begins,
    async run(context) {
      const memory = context.memory();
      const owner = context.unique();
      const update = { ...memory.update({ append: 1, owner }), expected: context.unique() };
      await memory.refused("an update of an absent memory", "VERSION_CONFLICT", update);
      await memory.check("after an update of an absent memory");
      await expectUnlisted("after an update of an absent memory", context.store, owner, memory);
    },
  },
  {
    name: "a memory that began again does not pass for the deleted one",
    sentence: sentences.begins,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2 });
      const stale = memory.update({ append: 1, move: [{ seq: 1, to: "removed" }] });
      await memory.delete();
      await memory.commit({ append: 2 });
      await memory.refused("an update of the deleted memory", "VERSION_CONFLICT", stale);
      await memory.check("after an update of the deleted memory");
    },
  },
  {
    name: "versions that look alike are different versions",
    sentence: sentences.expected,
    async run(context) {
      const { unique } = context;
      const long = unique().padEnd(255, "x");
      const pairs = [...alike, ["the last of 256 bytes", "1", "2"] as const];
      await inPortions(pairs, async ([why, one, other]) => {
        const base = why.startsWith("the last") ? long : unique();
        for (const [version, twin] of [
          [`${base}${one}`, `${base}${other}`],
          [`${base}${other}`, `${base}${one}`],
        ] as const) {
          const memory = context.memory();
          const beginning = { ...memory.update({ append: 2 }), version };
          await memory.send(beginning);
          const updates = [
            { ...memory.update({ append: 1 }), expected: twin },
            { ...beginning, version: twin },
          ];
          for (const update of updates) {
            await memory.refused(`an update of a version that differs in ${why}`, "VERSION_CONFLICT", update);
          }
          await memory.checkKnown(`with a version that differs in ${why}`, twin);
          await memory.send({ ...memory.update({ append: 1 }), version: twin });
          await memory.check(`after updates of versions that differ in ${why}`);
        }
      });
    },
  },
  {
    name: "of two updates of one version exactly one wins",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1, head: "0" });
      for (let round = 1; round <= rounds; round++) {
        const update = (side: string) =>
          memory.update({ append: [{ payload: `"${side} ${round}"` }], head: `"${side} ${round}"` });
        const both = [update("left"), update("right")] as const;
        await expectOneWins("updates of one version", context, memory, round, both);
        await memory.check("after two updates of one version");
      }
    },
  },
  {
    name: "of two updates of the head alone exactly one wins",
    sentence: sentences.expected,
    async run(context) {
      const memory = context.memory();
      for (let round = 1; round <= rounds; round++) {
        // A lease is taken so, also where there is no memory yet.
        const update = (side: string) => memory.update({ head: `"${side} ${round}"` });
        await expectOneWins("updates of the head", context, memory, round, [update("left"), update("right")]);
        await memory.check("after two updates of the head alone");
      }
    },
  },
  {
    name: "of two beginnings exactly one wins",
    sentence: sentences.expected,
    async run(context) {
      for (let round = 0; round < rounds; round++) {
        const memory = context.memory();
        const one = memory.update({ append: 1, owner: "left" });
        const two = memory.update({ append: 2, owner: "right" });
        await expectOneWins("beginnings", context, memory, round, [one, two]);
        await memory.check("after two beginnings");
      }
    },
  },
  {
    name: "fifty writers that repeat after a conflict all land once",
    sentence: sentences.expected,
    async run(context) {
      const { store, other, signal } = context;
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const write = async (writer: number) => {
        const client = writer % 2 === 0 ? store : other;
        const version = context.unique();
        while (!signal.aborted) {
          const started = performance.now();
          const seen = await client.getMessages(memory.id);
          const message = { id: `w${writer}`, seq: seen.nextSeq, createdAt: writer, payload: `${writer}` };
          try {
            await client.updateMessages(memory.id, {
              expected: seen.version,
              version: `${version}-${seen.nextSeq}`,
              nextSeq: seen.nextSeq + 1,
              append: [message],
              replace: [],
              move: [],
            });
            return;
          } catch (error) {
            if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
            // Without a pause the fastest client may keep the others out for long; and where calls wait for each other,
            // all of them would wait for attempts that cannot succeed.
            const pauseMs = context.random() * Math.max(20, 2 * (performance.now() - started));
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
          }
        }
      };
      await all(Array.from({ length: 50 }, (_, writer) => write(writer)));
      const { messages, nextSeq } = await store.getMessages(memory.id);
      const seqs = Array.from({ length: 51 }, (_, index) => index + 1);
      expectEqual(
        "seqs after 50 writers",
        messages.map(({ seq }) => seq),
        seqs,
      );
      expectEqual("nextSeq after 50 writers", nextSeq, 52);
      const writers = Array.from({ length: 50 }, (_, writer) => `w${writer}`).sort();
      const landed = messages.slice(1).map(({ id }) => id);
      expectEqual("ids after 50 writers, sorted", landed.sort(), writers);
      if (!context.capabilities.history) return;
      const history = await other.getHistory(memory.id, {});
      expectEqual(
        "seqs in history after 50 writers",
        history.messages.map(({ seq }) => seq),
        seqs,
      );
    },
  },
  {
    name: "a read that knows the present version has its messages or learns that it is unchanged",
    sentence: sentences.known,
    async run(context) {
      const memory = context.memory();
      for (const change of [{ append: 3, owner: "alice", head: "{}" }, { append: 1 }, { head: "[]" }]) {
        const { version } = await memory.commit(change);
        for (const client of [context.store, context.other]) {
          await memory.checkKnown("with the present version", version, client);
        }
      }
      const update = await memory.commit({ move: [1, 2, 3, 4].map((seq) => ({ seq, to: "removed" })) });
      await memory.checkKnown("with the present version of an empty memory", update.version);
      await memory.check("after reads that knew the version");
    },
  },
  {
    name: "a read that knows another version has the messages",
    sentence: sentences.known,
    async run(context) {
      const memory = context.memory();
      await memory.checkKnown("with a version, of a memory that never was", context.unique());
      const known: string[] = [];
      const changes: Change[] = [
        { append: 2 },
        { append: 1 },
        { replace: [{ seq: 3, payload: '"new"' }] },
        { move: [{ seq: 1, to: "superseded" }] },
        { head: "{}" },
      ];
      const check = async (when: string): Promise<void> => {
        for (const version of [...known, context.unique()]) {
          for (const client of [context.store, context.other]) await memory.checkKnown(when, version, client);
        }
      };
      for (const [index, change] of changes.entries()) {
        const client = index % 2 === 0 ? context.store : context.other;
        const { version } = await memory.commit(change, client);
        await check("with an earlier version");
        known.push(version);
      }
      await memory.delete();
      await check("with the version of a deleted memory");
      await memory.commit({ append: 2 });
      await check("with the version of an earlier memory of that id");
    },
  },
]);
