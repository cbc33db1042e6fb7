import type { WindowOptions } from "@turnkeep/core";

/** A window that is measured. `summaries` adds a summarizer to it. */
export interface WindowCase {
  readonly name: string;
  /** The line that its point is on in a plot. */
  readonly line: string;
  readonly window: Pick<WindowOptions<unknown>, "unit" | "target">;
  readonly summaries: boolean;
}

const targets = [0.85, 0.7, 0.5];

/** LangChain4j's window, one that keeps as many steps as fit, and ours by each target, unit, and with summaries. */
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
];
