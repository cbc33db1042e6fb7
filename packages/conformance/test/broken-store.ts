import type { MemoryUpdate, StoreCapabilities } from "@turnkeep/core";
import type { ConformanceGroup, ConformanceHarness, HarnessCreateOptions } from "../src/index.ts";
import type { Database, ReferenceOptions, StoredMemory } from "./reference-store.ts";

/** A store with one fault, and the case that must find it. */
export interface BrokenStore {
  readonly fault: string;
  readonly caughtBy: readonly [group: ConformanceGroup, name: string];
  readonly capabilities?: Partial<StoreCapabilities>;
  /** Replaces methods of a correct client. */
  readonly wrap?: NonNullable<ReferenceOptions["wrap"]>;
  /** Replaces the options that a client is made with. */
  readonly prepare?: (options: HarnessCreateOptions) => HarnessCreateOptions;
  /** What a restart does to the database. */
  readonly reopen?: (database: Database) => void;
  /** Whether it must be found by the time of the machine. */
  readonly realTime?: boolean;
  /** Makes the harness, of the reference's where it takes that. */
  readonly harness?: (reference: ConformanceHarness) => ConformanceHarness | Promise<ConformanceHarness>;
  /** For a store whose calls do not end; default 10,000. */
  readonly timeoutMs?: number;
}

/** What all clients of one database share beside it. */
export function beside<T>(make: () => T): (memories: Database["memories"]) => T {
  const all = new WeakMap<Database["memories"], T>();
  return (memories) => {
    const known = all.get(memories) ?? make();
    all.set(memories, known);
    return known;
  };
}

/** Changes each update before the correct store gets it. */
export function changing(
  change: (update: MemoryUpdate, memory: StoredMemory | undefined) => MemoryUpdate,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    updateMessages: (id, update, options) =>
      base.updateMessages(id, change(update, memories.get(id)), options),
  });
}

/** Whether an id is one that the contract allows; a broken store hands any other to the correct one as it is. */
export function isId(id: string): boolean {
  return /^[^\0\p{Surrogate}]+$/u.test(id) && Buffer.byteLength(id) <= 512;
}
