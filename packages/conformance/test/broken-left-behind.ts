import { type BrokenStore, beside } from "./broken-store.ts";
import type { GivenDatabase } from "./reference-store.ts";

const locked = beside(() => new Set<string>());
const timers: NodeJS.Timeout[] = [];

/** What a call or a client leaves behind it, of which a server dies slowly. */
export const brokenLeftBehind: readonly BrokenStore[] = [
  {
    fault: "leaves a listener on the signal of a call",
    caughtBy: ["errors", "a call that has ended leaves no listener on its signal"],
    wrap: (base) => ({
      async getMessages(id, options) {
        options?.signal?.addEventListener("abort", () => {});
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "keeps the lock of an update that failed",
    caughtBy: ["errors", "a call that failed keeps no lock"],
    timeoutMs: 500,
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (locked(memories).has(id)) await new Promise(() => {});
        locked(memories).add(id);
        await base.updateMessages(id, update, options);
        locked(memories).delete(id);
      },
    }),
  },
  {
    fault: "leaves something open in the process when it is closed",
    caughtBy: ["lifecycle", "a client that was closed leaves nothing open"],
    wrap: () => {
      timers.push(setInterval(() => {}, 60_000));
      return {};
    },
    harness: (reference) => ({
      ...reference,
      destroy() {
        for (const timer of timers.splice(0)) clearInterval(timer);
      },
    }),
  },
  {
    fault: "changes the settings of a client that it was given",
    caughtBy: ["lifecycle", "a client that the store was given keeps its settings"],
    wrap: (_, database) => {
      const { settings } = database as Partial<GivenDatabase>;
      if (settings === undefined) return {};
      return {
        async close() {
          settings.timeZone = "UTC";
        },
      };
    },
  },
];
