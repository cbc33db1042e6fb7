import type { BrokenStore } from "./broken-store.ts";
import { roundTrip } from "./reference-store.ts";

/** What goes wrong about the moment at which a life ends, and by whose clock it does. */
export const brokenExpiryRaces: readonly BrokenStore[] = [
  {
    fault: "removes what it reads as expired without looking again",
    caughtBy: ["ttl", "reads and lists of what has expired spare a memory that begins again meanwhile"],
    wrap: (base, { memories, now }) => ({
      async getMessages(id, options) {
        await roundTrip();
        const memory = memories.get(id);
        if (memory !== undefined && memory.expiresAt <= now()) {
          await roundTrip();
          memories.delete(id);
        }
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "removes in a sweep, without a lock, what had expired when it looked",
    caughtBy: ["ttl", "what is written around the end of a life stays, beside reads, lists and sweeps"],
    wrap: (base, { memories, now }) => ({
      async sweep(options) {
        const expired = [...memories].filter(([, memory]) => memory.expiresAt <= now());
        await base.getMessages("a", options);
        await roundTrip();
        for (const [id] of expired) memories.delete(id);
        return { removed: expired.length };
      },
    }),
  },
  {
    fault: "keeps the old expiry where a client without ttlMs writes",
    caughtBy: ["ttl", "each write sets the expiry by its own client's ttlMs"],
    wrap: (base, { memories }, { ttlMs }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id)?.expiresAt;
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (ttlMs === undefined && before !== undefined && memory !== undefined) memory.expiresAt = before;
      },
    }),
  },
  {
    fault: "keeps the longest of all lives that were set",
    caughtBy: ["ttl", "each write sets the expiry by its own client's ttlMs"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id)?.expiresAt ?? 0;
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && update.expected !== null)
          memory.expiresAt = Math.max(before, memory.expiresAt);
      },
    }),
  },
  {
    fault: "sets the end of a life by the clock of the process that writes",
    caughtBy: ["ttl", "a life ends by the database's clock, whatever this process's says"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        const ahead = Date.now() - (performance.timeOrigin + performance.now());
        if (memory !== undefined) memory.expiresAt += ahead;
      },
    }),
  },
];
