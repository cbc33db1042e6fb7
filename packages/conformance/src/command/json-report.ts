import type { ConformanceReport } from "../report.ts";

/** A report as JSON text. What a case threw is told by its `message`; a limit that is infinite is the text "Infinity". */
export function jsonReport(report: ConformanceReport, version: string): string {
  const results = report.results.map((result) => {
    if (!("error" in result)) return result;
    const { error: _, ...plain } = result;
    return plain;
  });
  const whole = { kit: version, ...report, results };
  const plain = (_: string, value: unknown) => (value === Number.POSITIVE_INFINITY ? "Infinity" : value);
  return `${JSON.stringify(whole, plain, 2)}\n`;
}
