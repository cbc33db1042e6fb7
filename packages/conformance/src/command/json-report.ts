import { coreVersion, packageVersion } from "../package-version.ts";
import type { ConformanceReport } from "../report.ts";

/**
 * A report as JSON text, with the versions of what was run. What a case or the harness threw is told by its `message`; a
 * limit that is infinite is the text "Infinity".
 */
export function jsonReport(report: ConformanceReport): string {
  const versions = { kit: packageVersion(), core: coreVersion(), node: process.versions.node };
  const plain = (name: string, value: unknown) => {
    if (name === "error") return undefined;
    return value === Number.POSITIVE_INFINITY ? "Infinity" : value;
  };
  return `${JSON.stringify({ versions, ...report }, plain, 2)}\n`;
}
