import type { Plot } from "./report/plot.ts";
import type { Table } from "./report/table.ts";

/** A figure that the project holds itself to; without a bound, one to compare it with. */
export interface Target {
  readonly what: string;
  readonly measured: number;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** What it was before it was worked on: the code of 26 November 2026. */
  readonly before?: string;
  /** The decision of a reader that it belongs to: the head of docs/performance.md shows it there. */
  readonly decides?: "start" | "turn" | "capacity" | "size";
}

/** What a benchmark found, as it goes into `results/`. */
export interface Findings {
  /** Those that docs/performance.md shows. */
  readonly tables: readonly Table[];
  /** Those that stand in the benchmark's own page alone. */
  readonly details?: readonly Table[];
  /** The one that the README shows. */
  readonly headline?: Table;
  readonly plots?: readonly Plot[];
  readonly targets?: readonly Target[];
  /** The versions of what was measured beside ours, by package. */
  readonly versions?: Readonly<Record<string, string>>;
}

export interface Options {
  /** Small sizes, to see that it works: nothing is written. */
  readonly quick: boolean;
  /** Only these parts of the benchmark, where it has parts: databases, say. Empty: all. */
  readonly only: readonly string[];
  /** A file of the user's own conversations. What is measured on it is not written. */
  readonly conversations?: string | undefined;
  /** Tells how far it is. */
  say(text: string): void;
}

export interface Benchmark {
  /** As the command line takes it; also the name of its file in `results/`. */
  readonly name: string;
  readonly about: string;
  /** What `only` may name. */
  readonly parts?: readonly string[];
  /** Whether it reads `conversations`. */
  readonly readsConversations?: boolean;
  run(options: Options): Promise<Findings>;
}

export function isMet({ measured, atMost, atLeast }: Target): boolean {
  // The least lead over no peer at all is infinite.
  if (!Number.isFinite(measured)) return false;
  return (
    measured <= (atMost ?? Number.POSITIVE_INFINITY) && measured >= (atLeast ?? Number.NEGATIVE_INFINITY)
  );
}
