import { invalidOption } from "@turnkeep/core/store-kit";
import { tokenCounter } from "@turnkeep/tokens";
import { openPlace, placeName, placeWithin } from "../places/place.ts";
import { temporaryFolder } from "../places/temporary-folder.ts";
import { formats } from "./message-kind.ts";
import { type ReplayOptions, type Settings, settingsOf } from "./options.ts";
import { type PlayedPart, playPart } from "./part.ts";
import { Printer } from "./printer.ts";
import { type BadLine, readConversations } from "./read-conversations.ts";
import { addFigures, type CheckReport, type PartReport } from "./report.ts";
import { playSecondHalf, type SecondHalf } from "./second-half.ts";
import { ownProgram, runSecondProcess } from "./second-process.ts";
import { turnsOf } from "./turns.ts";

/** What a replay found. */
export interface ReplayReport extends PartReport {
  /** Whether every line was replayed, every message is in the store, and every view was what it should be. */
  readonly ok: boolean;
  readonly check: CheckReport;
  /** How many messages of the first half the store did not have any more when it was opened again. Must be 0. */
  readonly forgotten: number;
  readonly badLines: readonly BadLine[];
}

/**
 * Replays conversations through a token window: adds their messages one by one to memories in a store, shows what a
 * model would be shown after each turn, stops half-way, lets a second process go on with the same store, and compares
 * what the store holds at the end with the files.
 *
 * Errors: `INVALID_OPTION` for options of another shape, for a file that cannot be read, for files without a line, and for
 * a folder that holds other things; what the store throws, such as `STORE_UNAVAILABLE`.
 *
 * @example
 * ```ts
 * import { replay } from "turnkeep";
 *
 * const report = await replay({ maxTokens: 600, write: (text) => process.stdout.write(text) });
 * console.log(report.ok, report.check.found);
 * ```
 */
export async function replay(options: ReplayOptions = {}): Promise<ReplayReport> {
  const settings = settingsOf(options);
  const printer = new Printer(settings);
  const count = await countFiles(settings.files);
  if (count.conversations + count.badLines.length === 0) {
    throw invalidOption(`No conversation in ${settings.files.join(", ")}: nothing to replay.`);
  }
  const folder = settings.store === undefined ? temporaryFolder("replay") : undefined;
  const store = settings.store ?? placeWithin(folder?.path ?? "");
  try {
    printer.start(count, storeLine(settings, store));
    for (const bad of count.badLines) printer.badLine(bad);
    const counter = await tokenCounter("o200k_base");
    const half = halfOf(count.turnsOfEach);
    const place = await openPlace(store, "write");
    let first: PlayedPart;
    try {
      first = await playPart(settings, place, counter, printer, half);
    } finally {
      await place.close();
    }
    const atHalf = (process: number | undefined): void =>
      printer.halfWay(half, count.turns, placeName(store), process);
    let second: SecondHalf;
    if (options.secondHalf === "here") {
      atHalf(undefined);
      second = await playSecondHalf(settings, store, counter, printer);
    } else {
      second = await runSecondProcess(options.program ?? ownProgram(), settings, store, atHalf);
    }
    // A store that forgets what it held is filled again by the second half, and looks complete at the end.
    const forgotten = Math.max(0, first.stored.after - second.part.stored.before);
    const { check } = second;
    const part: PartReport = {
      figures: addFigures(first.figures, second.part.figures),
      failures: [
        ...new Map(
          [...first.failures, ...second.part.failures].map((failure) => [failure.id, failure]),
        ).values(),
      ],
    };
    printer.end({ check, part, badLines: count.badLines.length, forgotten });
    return {
      ...part,
      check,
      forgotten,
      badLines: count.badLines,
      ok: forgotten === 0 && isSound(part, check, count.badLines),
    };
  } finally {
    folder?.remove();
  }
}

function isSound(
  { figures, failures }: PartReport,
  check: CheckReport,
  badLines: readonly BadLine[],
): boolean {
  const complete = check.found === check.messages - check.repeated && check.faults.length === 0;
  return (
    complete &&
    failures.length === 0 &&
    badLines.length === 0 &&
    figures.overLimit === 0 &&
    figures.broken === 0
  );
}

interface FileCount {
  readonly conversations: number;
  readonly messages: number;
  readonly turns: number;
  readonly turnsOfEach: readonly number[];
  readonly badLines: readonly BadLine[];
}

async function countFiles(files: readonly string[]): Promise<FileCount> {
  const badLines: BadLine[] = [];
  const turnsOfEach: number[] = [];
  let messages = 0;
  for await (const { conversation, bad } of readConversations(files)) {
    if (bad !== undefined) {
      badLines.push(bad);
      continue;
    }
    messages += conversation.messages.length;
    turnsOfEach.push(turnsOf(conversation.messages, formats[conversation.kind]).length);
  }
  const turns = turnsOfEach.reduce((sum, count) => sum + count, 0);
  return { conversations: turnsOfEach.length, messages, turns, turnsOfEach, badLines };
}

/** Half of all turns, moved into the middle of a conversation where it would fall between two. */
export function halfOf(turnsOfEach: readonly number[]): number {
  const half = Math.floor(turnsOfEach.reduce((sum, count) => sum + count, 0) / 2);
  let before = 0;
  for (const count of turnsOfEach) {
    if (before === half) return count > 1 ? half + 1 : half;
    before += count;
  }
  return half;
}

function storeLine({ store, run }: Settings, path: string): string {
  if (store === undefined) return `${placeName(path)}, removed at the end`;
  return `${placeName(path)}, memories replay/${run}/…; --run ${run} goes on after an interruption`;
}
