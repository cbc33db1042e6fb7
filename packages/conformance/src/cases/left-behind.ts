import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { everyCall } from "../support/calls.ts";
import { describeError, expectEqual, expectThat } from "../support/expect.ts";
import type { TestMemory } from "../support/memory.ts";
import { all } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const leftBehindCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "a call that has ended leaves no listener on its signal",
    sentence: sentences.leavesNothing,
    async run(context) {
      const { store } = context;
      const memory = context.memory();
      const { signal } = new AbortController();
      const listeners = counted(signal);
      const callAll = async () => {
        const calls = everyCall(store, memory.id, memory.update({ append: 1 }), { signal });
        for (const [, call] of calls) await call();
      };
      await callAll();
      const most = await lowest(listeners, 0);
      for (let round = 0; round < 4; round++) await callAll();
      const left = await lowest(listeners, most);
      expectThat(
        "a signal has no more listeners after five rounds of calls than after one (fetch and some drivers keep one of " +
          "each call on a signal that they are given: give them one of their own, by onAbort of the store kit)",
        left <= most,
        left,
      );
    },
  },
  {
    name: "a call that failed keeps no lock",
    sentence: sentences.leavesNothing,
    async run(context) {
      const { store, other, capabilities } = context;
      for (const [what, call] of failures(context)) {
        const memory = context.memory();
        await memory.commit({ append: 4, head: "1" });
        const early = await memory.commit({ append: 1 });
        await memory.commit({ append: 1 });
        const [ended] = await Promise.allSettled([call(memory, early.version)]);
        const told = ended.status === "rejected" ? describeError(ended.reason) : "success";
        expectThat(`${what} fails`, ended.status === "rejected" && isTurnkeepError(ended.reason), told);
        await all([memory.commit({ append: 1 }, other), other.getMessages(memory.id)]);
        await memory.commit({ move: [{ seq: 1, to: "evicted" }] }, store);
        await memory.check(`after ${what} failed`, other);
        if (capabilities.list) await other.listMemories({ limit: 1 });
        await other.sweep();
        await memory.delete(other);
      }
    },
  },
]);

export const leftOpenCases: readonly ConformanceCase[] = inGroup("lifecycle", [
  {
    name: "a client that was closed leaves nothing open",
    sentence: sentences.close,
    async run(context) {
      const clients = 12;
      /** What comes and goes meanwhile of others is less. */
      const many = clients / 2;
      const use = async () => {
        const client = await context.create();
        const memory = context.memory(undefined, client);
        await memory.commit({ append: 1, owner: context.unique() });
        await memory.check("by a client that is closed next");
        if (context.capabilities.list) await client.listMemories({ limit: 1 });
        await client.close();
      };
      // What clients share is open after the first.
      await use();
      const before = resources();
      for (let count = 0; count < clients; count++) await use();
      const after = await lowest(resources, before + many - 1);
      expectThat(
        `${clients} clients that were used and closed leave fewer than ${many} resources open in this process`,
        after < before + many,
        `${before} before, ${after} after: ${openResources().join(", ")}`,
      );
    },
  },
  {
    name: "a client that the store was given keeps its settings",
    sentence: sentences.settings,
    needs: ["given"],
    async run(context) {
      const { store, settings } = await context.given();
      if (settings === undefined) return;
      const before = structuredClone(await settings());
      const memory = context.memory(undefined, store);
      await memory.commit({ append: 3, owner: context.unique(), head: "1" });
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      await memory.check("by a client that the store was given");
      if (context.capabilities.list) await store.listMemories({ limit: 1 });
      await store.sweep();
      await memory.delete(store);
      expectEqual("the settings of the client while the store uses it", await settings(), before);
      await store.close();
      expectEqual("the settings of the client after the store was closed", await settings(), before);
    },
  },
]);

/** What calls fail with that reach the database: of the memory, and its version before the last one. */
function failures({
  store,
  unique,
}: ConformanceContext): readonly (readonly [
  what: string,
  call: (memory: TestMemory, early: string) => Promise<unknown>,
])[] {
  return [
    [
      "an update of another version",
      (memory, early) =>
        store.updateMessages(memory.id, { ...memory.update({ append: 1 }), expected: early }),
    ],
    [
      "a beginning of what is there",
      (memory) => store.updateMessages(memory.id, { ...memory.update(), expected: null }),
    ],
    [
      "an update that contradicts what is stored",
      (memory) => store.updateMessages(memory.id, memory.update({ append: [memory.message(2)], nextSeq: 7 })),
    ],
    [
      "an update that moves what is not there",
      (memory) =>
        store.updateMessages(memory.id, {
          ...memory.update(),
          nextSeq: 9,
          move: [{ seq: 8, to: "evicted" }],
        }),
    ],
    ["a delete of another version", ({ id }) => store.deleteMessages(id, { expected: unique() })],
  ];
}

/** The lowest number that a count comes to in some time, at once where it is no more than `enough`. */
async function lowest(count: () => number, enough: number): Promise<number> {
  let least = count();
  for (let waits = 0; waits < 200 && least > enough; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    least = Math.min(least, count());
  }
  return least;
}

function resources(): number {
  return openResources().length;
}

/** What keeps this process going, where it can tell. */
function openResources(): string[] {
  return globalThis.process?.getActiveResourcesInfo?.() ?? [];
}

/** Counts the listeners that a signal has from now on, in any runtime. */
function counted(signal: AbortSignal): () => number {
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<AbortSignal["addEventListener"]>) => {
    listeners.add(given[1]);
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<AbortSignal["removeEventListener"]>) => {
    listeners.delete(given[1]);
    removeEventListener.apply(signal, given);
  };
  return () => listeners.size;
}
