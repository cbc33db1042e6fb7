import type { ChatMemoryStore, StoreCapabilities } from "@turnkeep/core";
import type {
  ConformanceHarness,
  CountedClient,
  FaultOptions,
  GivenClient,
  HarnessCreateOptions,
} from "./harness.ts";
import type { TestMemory } from "./support/memory.ts";

/** What a case works with. Methods may be destructured: none uses `this`. */
export interface ConformanceContext {
  /** A client that lives as long as the run; a case must not close it. */
  readonly store: ChatMemoryStore;
  /** A second client of the same data; the same one again if the store declares `shared: false`. */
  readonly other: ChatMemoryStore;
  readonly capabilities: StoreCapabilities;
  /** What only a few cases use themselves. */
  readonly harness: ConformanceHarness;
  /** The seed of the run. */
  readonly seed: number;
  /** Where to start in the model's sequences, as a failed case printed it. */
  readonly path: string | undefined;
  /** Fires when the case runs out of time. */
  readonly signal: AbortSignal;
  /** From 0 to 1, from the seed and the case's name. */
  random(): number;
  /** An id that no memory has. Its memory is deleted after the case. */
  memoryId(): string;
  /** Reserves exactly this id: its memory is deleted now and after the case. */
  claim(memoryId: string): Promise<string>;
  /** A version, message id or owner that is used nowhere else. */
  unique(): string;
  /** A memory with its model, under a fresh id unless one is given. */
  memory(id?: string, client?: ChatMemoryStore): TestMemory;
  /** One more client, closed after the case. */
  create(options?: HarnessCreateOptions): Promise<ChatMemoryStore>;
  /** Restarts the database: `store` and `other` are new clients afterwards. */
  reopen(): Promise<void>;
  /** Milliseconds on the clock that `elapse` moves. */
  now(): number;
  /** Lets this many milliseconds pass: by the harness's `advance`, or by waiting. */
  elapse(ms: number): Promise<void>;
  /** Whether time passes only by `elapse`. */
  readonly clockIsMoved: boolean;
  /** What the database holds for a memory, joined; `undefined` if the harness cannot tell. */
  rawText(memoryId: string): Promise<string | undefined>;
  /**
   * Changes each text that the database holds for a memory, by its index too; returns how many. Needs `rawRead` and
   * `rawWrite`.
   */
  damage(memoryId: string, change: (text: string, index: number) => string): Promise<number>;
  /**
   * Removes the record that holds the first text of which this is true; returns whether there was one. Needs `rawRead`
   * and `rawRemove`.
   */
  lose(memoryId: string, isLost: (text: string) => boolean): Promise<boolean>;
  /**
   * A client whose `step`-th write to the database, and everything after it, does not take place, or that fails in another
   * way. Needs `fault`.
   */
  dying(step: number, how?: Omit<FaultOptions, "step">): Promise<ChatMemoryStore>;
  /** A store over a client that somebody else made. Needs `given`. */
  given(): Promise<GivenClient>;
  /** A client whose calls are counted, closed after the case. Needs `counted`. */
  counted(): Promise<CountedClient>;
}
