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
  /** No case failed, at least one passed, and the run came to its end. A part of the kit may be `ok` too: see `whole`. */
  readonly ok: boolean;
  /** When the run began, in ISO 8601. */
  readonly date: string;
  /** Pass it to another run to repeat the same random choices. */
  readonly seed: number;
  readonly capabilities: StoreCapabilities;
  /** The optional members that the harness has. */
  readonly offered: readonly string[];
  /** The members that it lacks, and that cases need for what the store declares: that much is not shown. */
  readonly lacking: readonly string[];
  /** Whether every case of the kit was chosen, and the run came to its end. Only then a store conforms. */
  readonly whole: boolean;
  /** How many cases the kit has. */
  readonly casesOfTheKit: number;
  /** Why the run ended before its last case: the options `bail` and `totalMs`. */
  readonly stopped?: string | undefined;
  /** What the harness failed by when the run had ended, such as a `destroy` that throws or does not end. */
  readonly harnessFailure?: { readonly message: string; readonly error: unknown } | undefined;
  readonly results: readonly ConformanceResult[];
  readonly counts: ConformanceCounts;
  /** Of the groups that ran, in their order. */
  readonly groups: Readonly<Partial<Record<ConformanceGroup, ConformanceCounts>>>;
}

/** What a run knows of itself; the rest of a report follows from its results. */
export type RunFacts = Omit<ConformanceReport, "ok" | "results" | "counts" | "groups">;

/** Counts results. */
export function createReport(facts: RunFacts, results: readonly ConformanceResult[]): ConformanceReport {
  const counts = count(results);
  const groups: Partial<Record<ConformanceGroup, ConformanceCounts>> = {};
  for (const group of conformanceGroups) {
    const members = results.filter((result) => result.group === group);
    if (members.length > 0) groups[group] = count(members);
  }
  const ended = facts.stopped === undefined && facts.harnessFailure === undefined;
  return { ok: counts.failed === 0 && counts.passed > 0 && ended, ...facts, results, counts, groups };
}

function count(results: readonly ConformanceResult[]): ConformanceCounts {
  const of = (status: ConformanceResult["status"]) =>
    results.filter((result) => result.status === status).length;
  return { passed: of("passed"), failed: of("failed"), warned: of("warned"), skipped: of("skipped") };
}

/** What a run shows of a store: a few words for a badge, and the beginning of a sentence. */
export interface Verdict {
  readonly badge: string;
  readonly sentence: string;
  readonly is: "good" | "part" | "bad";
}

/** What a report comes to. Only a whole run, over a harness that offers everything, shows that a store conforms. */
export function verdictOf({ counts, whole, results, casesOfTheKit, lacking }: ConformanceReport): Verdict {
  const { passed, failed } = counts;
  if (failed > 0) return { badge: `${failed} failed`, sentence: "Does not conform", is: "bad" };
  if (passed === 0) return { badge: "nothing passed", sentence: "Nothing passed", is: "bad" };
  if (!whole) {
    const ran = `${results.length} of ${casesOfTheKit} cases`;
    const badge = `${passed} of ${casesOfTheKit} cases passed`;
    return { badge, sentence: `Passed a part of the kit (${ran})`, is: "part" };
  }
  if (lacking.length === 0) return { badge: "conforms", sentence: "Conforms", is: "good" };
  // A badge has room for a few words.
  const [one, two, , ...more] = lacking;
  const few = more.length === 0 ? lacking : [`${one}, ${two}`, `${1 + more.length} more`];
  return {
    badge: `conforms, tried without ${listed(few)}`,
    sentence: `Conforms as far as a harness without ${listed(lacking)} shows`,
    is: "part",
  };
}

/**
 * A report as text for a terminal: what the store declares and what its harness lacks, a line per group, then each
 * failure with the sentence of the contract and what was seen, each skipped case with what the store declares, and the
 * totals.
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
  const lines: string[] = [...factLines(report), ""];
  for (const [group, of] of Object.entries(report.groups)) {
    lines.push(`${of.failed > 0 ? "✗" : "✓"} ${group.padEnd(10)} ${totals(of)}`);
  }
  lines.push(...failureLines(results));
  const skipped = results.filter((result) => result.status === "skipped");
  if (skipped.length > 0) lines.push("");
  for (const { group, name, reason } of skipped)
    lines.push(`skipped ${group}: ${name} (the store ${reason})`);
  lines.push("", `${verdictOf(report).sentence}: ${totals(counts)}; seed ${seed}`);
  return lines.join("\n");
}

/** What the totals do not tell, and a reader must know first. */
function factLines(report: ConformanceReport): string[] {
  const { capabilities, lacking, whole, results, casesOfTheKit, stopped, harnessFailure } = report;
  const declared = Object.entries(capabilities)
    .filter(([, value]) => value !== false && value !== undefined)
    .map(([name, value]) => (value === true ? name : `${name} ${value}`));
  const lines = [`The store declares ${listed(declared)}.`];
  if (lacking.length > 0) {
    lines.push(`The harness lacks ${listed(lacking)}: what only they can show was not tried.`);
  }
  if (!whole) lines.push(`A part of the kit: ${results.length} of ${casesOfTheKit} cases.`);
  if (stopped !== undefined) lines.push(`The run was stopped: ${stopped}.`);
  if (harnessFailure !== undefined)
    lines.push(`The harness failed after the last case: ${harnessFailure.message}`);
  return lines;
}

/** `a, b and c`. */
function listed(names: readonly string[]): string {
  const [last = "nothing", ...others] = [...names].reverse();
  return others.length === 0 ? last : `${others.reverse().join(", ")} and ${last}`;
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
