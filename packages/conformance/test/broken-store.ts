import type { StoreCapabilities } from "@turnkeep/core";
import type { ConformanceGroup, HarnessCreateOptions } from "../src/index.ts";
import type { Database, ReferenceOptions } from "./reference-store.ts";

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
}

/** Whether an id is one that the contract allows; a broken store hands any other to the correct one as it is. */
export function isId(id: string): boolean {
  return /^[^\0\p{Surrogate}]+$/u.test(id) && Buffer.byteLength(id) <= 512;
}
