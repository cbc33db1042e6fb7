import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countsOf, none } from "./counts.mjs";
import { execute } from "./execute.mjs";

/**
 * Runs Vitest in one folder. It fails on a failed test, on an error that no test caught, on a test marked `only`,
 * and if there is no test at all.
 *
 * @param {string} folder absolute
 * @param {{ env: NodeJS.ProcessEnv, config?: string, workers?: number | undefined, onCounts: (counts: import("./counts.mjs").Counts) => void, onReport?: (report: any) => void }} options
 * @returns {Promise<import("./steps.mjs").StepResult>}
 */
export async function runVitest(folder, { env, config, workers, onCounts, onReport }) {
  const reports = mkdtempSync(join(tmpdir(), "turnkeep-tests-"));
  const report = join(reports, "report.json");
  const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
  const flags = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const strict = ["--allowOnly=false", "--dangerouslyIgnoreUnhandledErrors=false", "--passWithNoTests=false"];
  const chosen = [
    ...(config === undefined ? [] : [`--config=${config}`]),
    ...(workers === undefined ? [] : [`--maxWorkers=${workers}`]),
  ];
  try {
    const run = await execute(process.execPath, [vitest, "run", ...flags, ...strict, ...chosen], {
      cwd: folder,
      env,
    });
    if (!existsSync(report)) {
      onCounts({ ...none, failed: 1 });
      return { ok: false, output: `${run.output}\nVitest ended without a report (${run.end}).` };
    }
    const results = JSON.parse(readFileSync(report, "utf8"));
    const counted = countsOf(results);
    // A server that did not start, say, leaves a report without a failure in it.
    const counts = run.ok || counted.failed > 0 ? counted : { ...counted, failed: 1 };
    onCounts(counts);
    onReport?.(results);
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
    return {
      ok: run.ok && counts.failed === 0,
      output: run.output,
      note: `${counts.passed} passed${counts.failed > 0 ? `, ${counts.failed} failed` : ""}${skipped}`,
    };
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}
