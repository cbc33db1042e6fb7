import type { HistoryPage, MemorySnapshot } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";
import { fileHarness } from "./file-harness.ts";
import { roundTrip } from "./reference-store.ts";

const underWay = "a read shows what was committed before it began, whatever reads are under way";

/** Answers each key from the call that is under way for it, if there is one. */
function sharing<T>(): (key: string, call: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return async (key, call) => {
    const known = running.get(key);
    if (known !== undefined) return structuredClone(await known);
    const answer = call();
    running.set(key, answer);
    try {
      return await answer;
    } finally {
      running.delete(key);
    }
  };
}

/** What looks right to one client, or in one process. */
export const brokenProcesses: readonly BrokenStore[] = [
  {
    fault: "answers a read from one that is under way",
    caughtBy: ["basic", underWay],
    wrap: (base) => {
      const shared = sharing<MemorySnapshot>();
      return {
        getMessages: (id, options) =>
          shared(`${id} ${options?.known}`, async () => {
            const snapshot = await base.getMessages(id, options);
            for (let trips = 0; trips < 4; trips++) await roundTrip();
            return snapshot;
          }),
      };
    },
  },
  {
    fault: "answers a page of history from one that is under way",
    caughtBy: ["basic", underWay],
    wrap: (base) => {
      const shared = sharing<HistoryPage>();
      return {
        getHistory: (id, query, options) =>
          shared(JSON.stringify([id, query]), async () => {
            const page = await base.getHistory(id, query, options);
            for (let trips = 0; trips < 4; trips++) await roundTrip();
            return page;
          }),
      };
    },
  },
  {
    fault: "keeps what it has read in the process, until that writes itself",
    caughtBy: ["basic", "a process sees at once what another wrote"],
    harness: () => fileHarness("cache"),
  },
  {
    fault: "locks in the process instead of the database",
    caughtBy: ["versions", "writers in two processes all land once"],
    harness: () => fileHarness("process lock"),
  },
  {
    fault: "looks, then writes, and never waits in between",
    caughtBy: ["versions", "of two beginnings in two processes exactly one wins"],
    harness: () => fileHarness("no lock"),
  },
];
