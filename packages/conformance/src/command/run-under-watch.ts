import type { ConformanceCase } from "../case.ts";
import { type ConformanceResult, failureLines } from "../report.ts";

/** A run under way, as far as whoever ends it from outside must be told. */
export interface Progress {
  readonly file: string;
  readonly cases: readonly ConformanceCase[];
  readonly results: readonly ConformanceResult[];
  /** Whether the harness is there. */
  loaded: boolean;
}

/**
 * Does some work, and tells where it was if the process ends meanwhile: a store or a harness that calls `process.exit`
 * would otherwise pass for one that conforms.
 */
export async function underWatch<T>(
  progress: Progress,
  { out, err }: { readonly out: (text: string) => void; readonly err: (text: string) => void },
  work: () => Promise<T>,
): Promise<T> {
  const onExit = () => {
    // Where nobody reads any more, the command has ended itself.
    if (process.stdout.errored) return;
    const { file, cases, results, loaded } = progress;
    const next = loaded ? cases[results.length] : undefined;
    const at = loaded ? "after the last case" : "while it was loaded";
    const where = next === undefined ? at : `while the case "${next.name}" ran`;
    out(linesOf(results));
    err(
      `turnkeep-conformance: ${file} or what it uses ended the process ${where}, after ${results.length} of ` +
        `${cases.length} cases, so there is no report: a store must not call process.exit().\n`,
    );
    process.exitCode = 2;
  };
  process.once("exit", onExit);
  try {
    return await work();
  } finally {
    process.removeListener("exit", onExit);
  }
}

/** What has failed so far, as text. */
export function linesOf(results: readonly ConformanceResult[]): string {
  return failureLines(results)
    .map((line) => `${line}\n`)
    .join("");
}
