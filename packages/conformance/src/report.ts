import type { StoreCapabilities } from "@turnkeep/core";
import { type ConformanceGroup, conformanceGroups } from "./case.ts";
import { ConformanceError, describeError } from "./support/expect.ts";

/** The outcome of one case. */
export type ConformanceResult = {
  readonly name: string;
  readonly group: ConformanceGroup;
  /** The sentence of the contract that the case proves. */
  readonly sentence: string;
} & (
  | { readonly status: "passed"; readonly durationMs: number }
  /** `reason`: what the store declares, or its harness lacks; a text that continues "the store". */
  | { readonly status: "skipped"; readonly reason: string }
  /** `warned`: the rule is new in this minor version and does not count yet. */
  | {
      readonly status: "failed" | "warned";
      readonly durationMs: number;
      /** What was expected and what was seen. */
      readonly message: string;
      readonly error: unknown;
    }
);

type Failure = Extract<ConformanceResult, { readonly status: "failed" | "warned" }>;

/** How many cases ended in which way. */
export interface ConformanceCounts {
  readonly passed: number;
  readonly failed: number;
  readonly warned: number;
  readonly skipped: number;
}

/** What a run of the kit found. */
export interface ConformanceReport {
  /** No case failed, and at least one passed. */
  readonly ok: boolean;
  /** Pass it to another run to repeat the same random choices. */
  readonly seed: number;
  readonly capabilities: StoreCapabilities;
  readonly results: readonly ConformanceResult[];
  readonly counts: ConformanceCounts;
  /** Of the groups that ran, in their order. */
  readonly groups: Readonly<Partial<Record<ConformanceGroup, ConformanceCounts>>>;
}

/** Counts results. */
export function createReport(
  seed: number,
  capabilities: StoreCapabilities,
  results: readonly ConformanceResult[],
): ConformanceReport {
  const counts = count(results);
  const groups: Partial<Record<ConformanceGroup, ConformanceCounts>> = {};
  for (const group of conformanceGroups) {
    const members = results.filter((result) => result.group === group);
    if (members.length > 0) groups[group] = count(members);
  }
  return { ok: counts.failed === 0 && counts.passed > 0, seed, capabilities, results, counts, groups };
}

function count(results: readonly ConformanceResult[]): ConformanceCounts {
  const of = (status: ConformanceResult["status"]) =>
    results.filter((result) => result.status === status).length;
  return { passed: of("passed"), failed: of("failed"), warned: of("warned"), skipped: of("skipped") };
}

/**
 * A report as text for a terminal: a line per group, then each failure with the sentence of the contract and what was
 * seen, each skipped case with what the store declares, and the totals.
 *
 * @example
 * ```ts
 * import { type ConformanceHarness, formatReport, runConformance } from "@turnkeep/conformance";
 *
 * async function print(harness: ConformanceHarness): Promise<void> {
 *   console.log(formatReport(await runConformance(harness)));
 * }
 * ```
 */
export function formatReport(report: ConformanceReport): string {
  const { results, counts, seed } = report;
  const lines: string[] = [];
  for (const [group, of] of Object.entries(report.groups)) {
    lines.push(`${of.failed > 0 ? "✗" : "✓"} ${group.padEnd(10)} ${totals(of)}`);
  }
  lines.push(...failureLines(results));
  const skipped = results.filter((result) => result.status === "skipped");
  if (skipped.length > 0) lines.push("");
  for (const { group, name, reason } of skipped)
    lines.push(`skipped ${group}: ${name} (the store ${reason})`);
  lines.push("", `${report.ok ? "Conforms" : "Does not conform"}: ${totals(counts)}; seed ${seed}`);
  return lines.join("\n");
}

/**
 * Failures and warnings, separated by empty lines, with the sentence of the contract and what was seen. If many cases
 * have the same cause, as in a half-written store, the first one tells it and the others are listed by name.
 */
export function failureLines(results: readonly ConformanceResult[]): string[] {
  const alike = new Map<string, Failure[]>();
  for (const result of results) {
    if (result.status !== "failed" && result.status !== "warned") continue;
    const { status, error, message } = result;
    // Another call that had to succeed may fail in the same words.
    const cause = `${status} ${error instanceof ConformanceError ? message : describeError(error)}`;
    alike.set(cause, [...(alike.get(cause) ?? []), result]);
  }
  return [...alike.values()].flatMap((failures) => {
    const [{ status, group, name, sentence, message }, ...others] = failures as [Failure, ...Failure[]];
    return [
      "",
      `${status === "failed" ? "FAILED" : "WARNING"} ${group}: ${name}`,
      `  contract: ${sentence}`,
      `  seen:     ${message.replaceAll("\n", "\n            ")}`,
      ...others.map(
        (other, index) => `  ${index === 0 ? "so too:  " : "         "} ${other.group}: ${other.name}`,
      ),
    ];
  });
}

function totals({ passed, failed, warned, skipped }: ConformanceCounts): string {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (warned > 0) parts.push(`${warned} warned`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return parts.join(", ");
}
