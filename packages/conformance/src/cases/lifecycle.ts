import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { everyCall } from "../support/calls.ts";
import { describeError, expectCode, expectEqual, expectSettled, expectThat } from "../support/expect.ts";
import { expectListed, listed } from "../support/listed.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { all, race, readWhile } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const lifecycleCases: readonly ConformanceCase[] = inGroup("lifecycle", [
  {
    name: "every call after close is CLOSED",
    sentence: sentences.close,
    async run(context) {
      const store = await context.create();
      const memory = context.memory(undefined, store);
      await memory.commit({ append: 1 });
      const calls = everyCall(store, memory.id, memory.update({ append: 1 }));
      await store.close();
      for (const [method, call] of calls) {
        await expectCode(`${method} after close`, "CLOSED", call);
      }
    },
  },
  {
    name: "close may be called again",
    sentence: sentences.close,
    async run({ create, memoryId }) {
      const store = await create();
      await store.getMessages(memoryId());
      await all([store.close(), store.close()]);
      await store.close();
      await store[Symbol.asyncDispose]();

      const unused = await create();
      await unused[Symbol.asyncDispose]();
      await expectCode("getMessages after asyncDispose", "CLOSED", () => unused.getMessages(memoryId()));
      await unused.close();
    },
  },
  {
    name: "closing one client leaves the others alone",
    sentence: sentences.close,
    requires: { shared: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const third = await context.create();
      await memory.check("by a third client", third);
      await memory.commit({ append: 1 }, third);
      await third.close();
      for (const client of [context.store, context.other]) {
        await memory.check("after a third client was closed", client);
        await memory.commit({ append: 1 }, client);
      }
    },
  },
  {
    name: "close leaves a client that the store was given open",
    sentence: sentences.close,
    needs: ["given"],
    async run(context) {
      const { store, isOpen } = await context.given();
      const memory = context.memory(undefined, store);
      await memory.commit({ append: 1 });
      expectEqual("whether the client is open, before the store closes", await isOpen(), true);
      await store.close();
      await expectCode("getMessages after close", "CLOSED", () => store.getMessages(memory.id));
      expectEqual("whether the client is open, after the store was closed", await isOpen(), true);
    },
  },
  {
    name: "calls under way while a client closes come to an end",
    sentence: sentences.close,
    async run(context) {
      const store = await context.create();
      const memory = context.memory(undefined, store);
      await memory.commit({ append: 3 });
      const update = memory.update({ append: 2, move: [{ seq: 1, to: "evicted" }] });
      const running = [
        store.updateMessages(memory.id, update),
        ...Array.from({ length: 8 }, () => store.getMessages(memory.id)),
      ];
      const [written, ...others] = await Promise.allSettled([...running, store.close()]);
      for (const result of [written, ...others]) {
        if (result?.status !== "rejected") continue;
        const said = describeError(result.reason);
        expectThat(
          "a call under way ends well or with an error of Turnkeep",
          isTurnkeepError(result.reason),
          said,
        );
      }
      if (!context.capabilities.shared) return;
      const { version } = await context.store.getMessages(memory.id);
      if (version === update.version) memory.model.apply(update);
      else expectEqual("whether the update was acknowledged", written?.status, "rejected");
      await memory.check("after a client closed during an update", context.store);
    },
  },
  {
    name: "what was acknowledged survives",
    sentence: sentences.durable,
    requires: { durable: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4, owner: "alice", head: "1" });
      const last = await memory.commit({
        append: [{ payload: JSON.stringify("x".repeat(300_000)) }],
        replace: [{ seq: 2, payload: '"two"' }],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 3, to: "superseded" },
        ],
      });
      await context.reopen();
      await memory.check("after a restart", context.store);
      await context.store.updateMessages(memory.id, last);
      await memory.check("after a restart and a replay", context.store);
      await memory.commit({ append: 1 });
      await memory.check("after a restart and another update", context.other);
    },
  },
  {
    name: "what was deleted stays deleted, and what is listed stays listed, after a restart",
    sentence: sentences.durable,
    requires: { durable: true },
    async run(context) {
      const owner = context.unique();
      const [kept, deleted, begunAgain] = [context.memory(), context.memory(), context.memory()];
      for (const memory of [kept, deleted, begunAgain]) await memory.commit({ append: 3, owner });
      await kept.commit({ move: [{ seq: 2, to: "removed" }] });
      await deleted.delete();
      await begunAgain.delete();
      await begunAgain.commit({ append: 1, owner });
      await context.reopen();
      for (const memory of [kept, deleted, begunAgain]) await memory.check("after a restart", context.store);
      if (!context.capabilities.list) return;
      await expectListed("an owner's list after a restart", context.other, { owner }, [kept, begunAgain]);
      for (const { id } of [kept, begunAgain]) {
        const entry = await listed(context.store, undefined, id);
        expectEqual("the owner in everybody's list after a restart", entry?.owner, owner);
      }
    },
  },
  {
    name: "sweep answers a count and harms nothing that is there",
    sentence: sentences.sweep,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
      const quiet = await quietMemories(context);
      const sweep = async () => {
        const swept = await context.other.sweep();
        const isCount = Number.isSafeInteger(swept?.removed) && swept.removed >= 0;
        expectThat("sweep answers how much it removed", isCount, swept);
      };
      const write = async () => {
        for (let round = 0; round < 20; round++) {
          const [oldest = 0] = memory.model.seqs("live");
          await memory.commit({ append: 1, move: [{ seq: oldest, to: "superseded" }] });
          const begun = context.memory();
          await begun.commit({ append: 2 });
          await begun.check("of a memory that began during a sweep");
        }
      };
      await readWhile(sweep, write);
      await memory.check("after writes during sweeps");
      for (const [what, other] of quiet) await other.check(`of ${what}, after sweeps`);
    },
  },
  {
    name: "a sweep leaves a large update alone that is under way",
    sentence: sentences.sweep,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      const payload = JSON.stringify("x".repeat(300_000));
      await memory.commit({ append: 150 });
      for (let round = 0; round < 5; round++) {
        const live = memory.model.seqs("live");
        const write = () =>
          memory.commit({
            append: [{ payload }, ...Array.from({ length: 60 }, () => ({}))],
            replace: live.slice(60, 120).map((seq) => ({ seq, payload: `"${round}"` })),
            move: live.slice(0, 60).map((seq) => ({ seq, to: seq % 2 === 0 ? "evicted" : "removed" })),
          });
        // A sweep may have an update stage its rows again; sweeps without end might so keep it from ever ending.
        const sweep = async () => {
          for (let sweeps = 0; sweeps < 4; sweeps++) await context.other.sweep();
        };
        const [written, swept] = await race(round, write, sweep);
        expectSettled("a large update beside a sweep", written);
        expectSettled("a sweep beside a large update", swept);
        await memory.check("after a large update during sweeps");
      }
      await context.other.sweep();
      await memory.check("after large updates during sweeps, and another sweep");
    },
  },
]);

/** Memories that have little to show, and are there all the same. */
async function quietMemories(
  context: ConformanceContext,
): Promise<readonly (readonly [what: string, memory: TestMemory])[]> {
  const everything = (to: "evicted" | "removed") => ({ move: [1, 2].map((seq) => ({ seq, to })) });
  const kinds: readonly (readonly [what: string, ...changes: Change[]])[] = [
    ["a memory without anything", {}],
    ["a memory with a head alone", { head: "{}" }],
    ["a memory of which everything left", { append: 2 }, everything("evicted")],
    ["a memory of which everything was removed", { append: 2 }, everything("removed")],
    ["an owner's memory without messages", { owner: context.unique() }],
  ];
  const quiet = kinds.map(([what, ...changes]) => ({ what, changes, memory: context.memory() }));
  for (const { changes, memory } of quiet) for (const change of changes) await memory.commit(change);
  return quiet.map(({ what, memory }) => [what, memory]);
}
