import { access, constants, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import { formatBadge } from "../badge.ts";
import type { ConformanceGroup } from "../case.ts";
import type { ConformanceHarness } from "../harness.ts";
import { packageVersion } from "../package-version.ts";
import { PathError } from "../path-error.ts";
import { type ConformanceReport, type ConformanceResult, formatReport } from "../report.ts";
import { type NormalOptions, normalizeOptions, type RunLimits, runCases } from "../run.ts";
import type { RepeatOptions } from "../support/expect.ts";
import { CommandError, traced } from "./command-error.ts";
import { jsonReport } from "./json-report.ts";
import { loadHarness } from "./load-harness.ts";
import { repeatLine } from "./repeat-line.ts";
import { linesOf, underWatch } from "./run-under-watch.ts";
import { usage } from "./usage.ts";

/** What the command has of its surroundings. */
export interface Surroundings {
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Ends the run before the next case. */
  readonly signal?: AbortSignal | undefined;
}

interface Wishes {
  readonly file: string;
  readonly options: NormalOptions;
  readonly limits: Pick<RunLimits, "bail" | "totalMs">;
  /** As it was given. */
  readonly timeout: string | undefined;
  readonly json: string | undefined;
  readonly badge: string | undefined;
}

/** Runs the command; answers its exit status: 0 the store conforms, 1 it does not, 2 the kit could not run. */
export async function main(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    const wishes = read(args);
    if (typeof wishes === "string") {
      around.out(wishes);
      return 0;
    }
    return (await run(wishes, around)).ok ? 0 : 1;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    around.err(`turnkeep-conformance: ${error.message}\n`);
    return 2;
  }
}

async function run(wishes: Wishes, around: Surroundings): Promise<ConformanceReport> {
  const { file, options, json, badge } = wishes;
  const { cwd, out } = around;
  // Before a run of minutes, so that its report cannot be lost to where it cannot be written.
  if (json !== undefined && badge !== undefined && resolve(cwd, json) === resolve(cwd, badge)) {
    throw new CommandError(`--json and --badge name one file, ${json}: name two.`);
  }
  for (const target of [json, badge]) if (target !== undefined) await prepareTarget(target, cwd);
  const results: ConformanceResult[] = [];
  const progress = { file, cases: options.cases, results, loaded: false };
  const report = await underWatch(progress, around, async () => {
    const harness = await loadHarness(file, cwd);
    progress.loaded = true;
    return runHarness(harness, wishes, results, around);
  });
  out(`${formatReport(report)}\n`);
  if (json !== undefined) await written(json, () => writeFile(resolve(cwd, json), jsonReport(report)));
  if (badge !== undefined) await written(badge, () => writeFile(resolve(cwd, badge), formatBadge(report)));
  if (report.harnessFailure !== undefined) throw harnessError(file, report.harnessFailure.error);
  return report;
}

async function runHarness(
  harness: ConformanceHarness,
  { file, options, limits, timeout }: Wishes,
  results: ConformanceResult[],
  { out, err, signal }: Surroundings,
): Promise<ConformanceReport> {
  const count = options.cases.length;
  out(`${file}: ${count} ${count === 1 ? "case" : "cases"}, seed ${options.seed}\n\n`);
  const onResult = (result: ConformanceResult) => {
    results.push(result);
    // A run may take minutes, and far longer where each call of a store hangs: say at once what goes wrong.
    if (result.status === "failed") err(`failed so far: ${result.group}: ${result.name}\n`);
  };
  const repeat = (again: RepeatOptions) => repeatLine(file, timeout, again);
  try {
    return await runCases(harness, options, repeat, { ...limits, signal, onResult });
  } catch (error) {
    // Of a run of minutes, too.
    out(linesOf(results));
    if (signal?.aborted) {
      const so = `after ${results.length} of ${count} cases, so there is no report.`;
      throw new CommandError(`it was interrupted ${so}`);
    }
    throw error instanceof PathError ? new CommandError(error.message) : harnessError(file, error);
  }
}

function harnessError(file: string, error: unknown): CommandError {
  return new CommandError(`The harness of ${file} failed. ${traced(error)}`);
}

/** What the command line asks for; a text: only that is to be shown. */
function read(args: readonly string[]): Wishes | string {
  const { values, positionals } = parsed(args);
  if (values.help === true) return usage;
  if (values.version === true) return `${packageVersion()}\n`;
  const [file, ...more] = positionals;
  if (file === undefined) throw new CommandError(`name the file that exports the harness.\n\n${usage}`);
  if (more.length > 0) {
    throw new CommandError(`${positionals.join(" and ")} are ${positionals.length} files: name one.`);
  }
  if (values.path !== undefined && values.seed === undefined) {
    throw new CommandError("--path says where a seed's sequences begin: give --seed too.");
  }
  const options = normal({
    groups: values.group as ConformanceGroup[] | undefined,
    names: values.name,
    seed: seedOf(values.seed),
    path: values.path,
    timeoutMs: positive("timeout", "number of milliseconds", values.timeout),
  });
  const limits = {
    bail: positive("bail", "number of cases", values.bail),
    totalMs: positive("total", "number of milliseconds", values.total),
  };
  const { timeout, json, badge } = values;
  return { file, options, limits, timeout, json, badge };
}

function parsed(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\nSee turnkeep-conformance --help.`);
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    // pnpm hands on the border between its own options and these.
    args: args.filter((arg) => arg !== "--"),
    allowPositionals: true,
    options: {
      group: { type: "string", multiple: true },
      name: { type: "string", multiple: true },
      seed: { type: "string" },
      path: { type: "string" },
      timeout: { type: "string" },
      bail: { type: "string" },
      total: { type: "string" },
      json: { type: "string" },
      badge: { type: "string" },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
    },
  } as const);
}

function normal(options: Parameters<typeof normalizeOptions>[0]): NormalOptions {
  try {
    return normalizeOptions(options);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seed = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isSafeInteger(seed))
    throw new CommandError(`--seed must be a whole number, not ${JSON.stringify(text)}.`);
  return seed;
}

function positive(flag: string, what: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new CommandError(`--${flag} must be a positive ${what}, not ${JSON.stringify(text)}.`);
  return Number(text);
}

/** Makes the folder of a file that is to be written; fails where the file itself cannot be. */
async function prepareTarget(target: string, cwd: string): Promise<void> {
  const path = resolve(cwd, target);
  await written(target, () => mkdir(dirname(path), { recursive: true }));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() || target.endsWith("/") || target.endsWith(sep)) {
    throw new CommandError(`${target === "" ? "An empty path" : target} names a folder: name a file in it.`);
  }
  await written(target, () => access(found === undefined ? dirname(path) : path, constants.W_OK));
}

async function written(file: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}.`);
  }
}
