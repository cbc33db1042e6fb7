import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isTurnkeepError, type WindowUnit } from "@turnkeep/core";
import { errorCode, invalidOption } from "@turnkeep/core/store-kit";
import { tokenCounter } from "@turnkeep/tokens";
import { inspect } from "./inspect/inspect.ts";
import { noWholeNumber, type ReplayOptions, settingsOf } from "./replay/options.ts";
import { Printer } from "./replay/printer.ts";
import { replay } from "./replay/replay.ts";
import { playSecondHalf } from "./replay/second-half.ts";
import { SecondProcessError, secondHalfFlag, secondHalfStore } from "./replay/second-process.ts";
import { oneLine } from "./terminal/controls.ts";
import { wantsColour } from "./terminal/style.ts";
import { toldError } from "./told-error.ts";
import { usage } from "./usage.ts";

/** What the command has of its surroundings. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  /** The file that was started, to start a second process with. */
  readonly program: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** To the process that started this one, if it is one of ours. */
  readonly send?: ((message: unknown) => Promise<void>) | undefined;
}

/** Runs the command; answers its exit status: 0 all is well, 1 it is not, 2 the command line is wrong. */
export async function main(args: readonly string[], around: Surroundings): Promise<number> {
  const [command, ...rest] = args;
  try {
    switch (command) {
      case "replay":
        return await replayCommand(rest, around);
      case "inspect":
        return await inspectCommand(rest, around);
      case "--version":
      case "-v":
        around.out(`${version()}\n`);
        return 0;
      case "help":
      case "--help":
      case "-h":
        around.out(usage);
        return 0;
      case undefined:
        around.err(usage);
        return 2;
      default:
        around.err(`turnkeep: unknown command ${oneLine(JSON.stringify(command))}.\n\n${usage}`);
        return 2;
    }
  } catch (error) {
    return reported(error, args, around);
  }
}

async function replayCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      "max-tokens": { type: "string" },
      "max-messages": { type: "string" },
      unit: { type: "string" },
      store: { type: "string" },
      run: { type: "string" },
      profile: { type: "string" },
      explain: { type: "boolean" },
      quiet: { type: "boolean", short: "q" },
      help: { type: "boolean", short: "h" },
      columns: { type: "string" },
      [secondHalfFlag]: { type: "boolean" },
    },
  });
  if (values.help === true) {
    around.out(usage);
    return 0;
  }
  const isSecond = values[secondHalfFlag] === true;
  const options: ReplayOptions = {
    files: positionals,
    maxTokens: numberOf("max-tokens", values["max-tokens"]),
    maxMessages: numberOf("max-messages", values["max-messages"]),
    unit: values.unit as WindowUnit | undefined,
    store: isSecond ? around.env[secondHalfStore] : values.store,
    run: values.run,
    profile: values.profile,
    explain: values.explain,
    quiet: values.quiet,
    colour: wantsColour(around.isTerminal, around.env),
    columns: columnsOf(values.columns, around),
    write: around.out,
    program: around.program,
  };
  if (isSecond) return secondHalf(options, around);
  return (await replay(options)).ok ? 0 : 1;
}

/** How many memories, or messages of one, are shown unless it is said. */
const inspectedByDefault = 50;

async function inspectCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      store: { type: "string" },
      owner: { type: "string" },
      limit: { type: "string" },
      all: { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      columns: { type: "string" },
    },
  });
  if (values.help === true) {
    around.out(usage);
    return 0;
  }
  const [memoryId, ...others] = positionals;
  if (others.length > 0)
    throw invalidOption("inspect shows one memory: give one id, in quotes if it holds blanks.");
  if (values.all === true && values.limit !== undefined)
    throw invalidOption("--all and --limit exclude each other.");
  const limit = numberOf("limit", values.limit) ?? inspectedByDefault;
  const found = await inspect({
    store: values.store,
    memoryId,
    owner: values.owner,
    limit: values.all === true ? undefined : limit,
    json: values.json === true,
    colour: wantsColour(around.isTerminal, around.env),
    columns: columnsOf(values.columns, around),
    write: around.out,
    warn: around.err,
  });
  return found ? 0 : 1;
}

/** A terminal that does not know its size says 0. */
function columnsOf(text: string | undefined, around: Surroundings): number {
  return Math.min(140, numberOf("columns", text) ?? (around.columns || 100));
}

async function secondHalf(options: ReplayOptions, { send }: Surroundings): Promise<number> {
  const settings = settingsOf(options);
  if (settings.store === undefined || send === undefined) {
    throw invalidOption(`--${secondHalfFlag} is only for the process that a replay starts.`);
  }
  const counter = await tokenCounter("o200k_base");
  await send(await playSecondHalf(settings, settings.store, counter, new Printer(settings)));
  return 0;
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw noWholeNumber(name, JSON.stringify(text));
  return Number(text);
}

function reported(error: unknown, args: readonly string[], { err, env }: Surroundings): number {
  if (errorCode(error).startsWith("ERR_PARSE_ARGS")) {
    err(`turnkeep: ${oneLine((error as Error).message)}\nSee turnkeep --help.\n`);
    return 2;
  }
  if (error instanceof SecondProcessError) {
    err(`turnkeep: ${error.message}\n`);
    return 1;
  }
  err(toldError(error, [...args, env[secondHalfStore] ?? ""]));
  return isTurnkeepError(error, "INVALID_OPTION") ? 2 : 1;
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
