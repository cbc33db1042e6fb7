import type { WindowOptions } from "@turnkeep/core";

/** A window that is measured. `summaries` adds a summarizer to it. */
export interface WindowCase {
  readonly name: string;
  /** The line that its point is on in a plot. */
  readonly line: string;
  readonly window: Pick<WindowOptions<unknown>, "unit" | "target" | "cacheTtlMs">;
  readonly summaries: boolean;
}

const targets = [0.85, 0.7, 0.5];

/** The window that a memory has if it is given nothing but a limit. */
export const defaultCase = "step, target 0.7";

/**
 * LangChain4j's window, one that keeps as many steps as fit, and ours by each target, unit, with summaries, and with the
 * lifetimes of a cache.
 */
export const windowCases: readonly WindowCase[] = [
  {
    name: "LangChain4j, message by message",
    line: "sliding",
    window: { unit: "message", target: 1 },
    summaries: false,
  },
  { name: "step, target 1", line: "sliding", window: { unit: "step", target: 1 }, summaries: false },
  ...[false, true].flatMap((summaries) =>
    (["step", "turn"] as const).flatMap((unit) =>
      targets.map((target) => ({
        name: `${unit}, target ${target}${summaries ? ", summaries" : ""}`,
        line: `${unit}${summaries ? ", summaries" : ""}`,
        window: { unit, target },
        summaries,
      })),
    ),
  ),
  ...[5, 60].map((minutes) => ({
    name: `${defaultCase}, cacheTtlMs ${minutes} min`,
    line: `cacheTtlMs ${minutes} min`,
    window: { unit: "step" as const, target: 0.7, cacheTtlMs: minutes * 60_000 },
    summaries: false,
  })),
];
