import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { ProviderProfile, TurnkeepError, WindowUnit } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import * as known from "@turnkeep/formats/profiles";
import { shippedConversations } from "../conversations.ts";
import { placeOf } from "../places/place.ts";

/** What to replay, through which window, into which store. */
export interface ReplayOptions {
  /** JSON Lines files, one conversation a line. Default: the conversations that ship with the package. */
  readonly files?: readonly string[] | undefined;
  /** Default 600, unless `maxMessages` is given alone. */
  readonly maxTokens?: number | undefined;
  /** Default: no limit in messages. */
  readonly maxMessages?: number | undefined;
  /** Default `step`. */
  readonly unit?: WindowUnit | undefined;
  /**
   * A folder for PGlite, a file of SQLite's (`.db`), a JavaScript file whose default export is a store or a function that
   * answers one, or the address of a database: `postgres://…`, `redis://…`, `mongodb://…`, or DynamoDB's endpoint.
   * Default: a temporary folder that is removed at the end, with a file of SQLite's, or PGlite on Node before 22.13.
   */
  readonly store?: string | undefined;
  /**
   * Names the memories: `replay/<run>/<conversation>`. A run of the same name goes on where it stopped. Default: a new
   * name each time, so that nothing in the store is touched but what the replay wrote.
   */
  readonly run?: string | undefined;
  /** What the provider accepts, by the name of a profile: `anthropic`, say. Default: none. */
  readonly profile?: string | undefined;
  /** After each turn, what became of each message of the conversation, and by what. Default `false`. */
  readonly explain?: boolean | undefined;
  /** One line a conversation instead of each turn. Default `false`. */
  readonly quiet?: boolean | undefined;
  /** Default `false`. */
  readonly colour?: boolean | undefined;
  /** How wide lines may be. Default 100. */
  readonly columns?: number | undefined;
  /** Takes the text that is shown, in pieces. Default: it goes nowhere. */
  readonly write?: ((text: string) => void) | undefined;
  /**
   * Who replays the second half: another `process`, or this one, after it has closed the store and opened it again.
   * Default `process`.
   */
  readonly secondHalf?: "process" | "here" | undefined;
  /** The program that the second process runs. Default: this package's command. */
  readonly program?: string | undefined;
}

/** The options that a replay works with. */
export interface Settings {
  readonly files: readonly string[];
  readonly maxTokens: number | undefined;
  readonly maxMessages: number | undefined;
  readonly unit: WindowUnit;
  readonly profile: ProviderProfile | undefined;
  readonly explain: boolean;
  /** `undefined`: a temporary folder, made when the replay begins. */
  readonly store: string | undefined;
  readonly run: string;
  readonly quiet: boolean;
  readonly colour: boolean;
  readonly columns: number;
  readonly write: (text: string) => void;
}

export const defaultMaxTokens = 600;
/** What stays after an eviction, as a part of the token limit: core's default, named here because it is shown. */
export const tokenTarget = 0.7;

const units: readonly unknown[] = ["step", "turn", "message"];

/** Each option with the type of its value. */
const types: Readonly<Record<keyof ReplayOptions, string>> = {
  files: "object",
  maxTokens: "number",
  maxMessages: "number",
  unit: "string",
  store: "string",
  run: "string",
  profile: "string",
  explain: "boolean",
  quiet: "boolean",
  colour: "boolean",
  columns: "number",
  write: "function",
  secondHalf: "string",
  program: "string",
};

function checkTypes(options: ReplayOptions): void {
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(types, name) ? types[name as keyof ReplayOptions] : undefined;
    if (type === undefined)
      throw invalidOption(
        `replay takes ${Object.keys(types).join(", ")}; it was given ${JSON.stringify(name)}.`,
      );
    // Their own checks say more of lists and numbers.
    if (value !== undefined && type !== "object" && type !== "number" && typeof value !== type)
      throw invalidOption(`${name} must be a ${type}, not a ${typeof value}.`);
  }
  const { secondHalf } = options;
  if (secondHalf !== undefined && secondHalf !== "process" && secondHalf !== "here")
    throw invalidOption(`secondHalf must be process or here, not ${JSON.stringify(secondHalf)}.`);
}

/** Fills in the defaults. `INVALID_OPTION` for anything that is not documented above. */
export function settingsOf(options: ReplayOptions): Settings {
  checkTypes(options);
  const { maxMessages, unit = "step", store, run = randomBytes(4).toString("hex"), columns = 100 } = options;
  const maxTokens = options.maxTokens ?? (maxMessages === undefined ? defaultMaxTokens : undefined);
  checkNumber("max-tokens", maxTokens);
  checkNumber("max-messages", maxMessages);
  checkNumber("columns", columns);
  if (!units.includes(unit))
    throw invalidOption(`unit must be step, turn or message, not ${JSON.stringify(unit)}.`);
  if (!/^[\w.-]{1,64}$/.test(run)) {
    throw invalidOption(
      `run must be 1 to 64 letters, digits, dots, dashes or underscores, not ${JSON.stringify(run)}.`,
    );
  }
  const files = options.files ?? [];
  if (!Array.isArray(files)) throw invalidOption(`files must be a list of paths, not a ${typeof files}.`);
  if (files.some((file) => typeof file !== "string"))
    throw invalidOption("files must be a list of paths, and a path a text.");
  return {
    files: files.length === 0 ? shippedConversations() : files.map((file) => resolve(file)),
    maxTokens,
    maxMessages,
    unit,
    store: store === undefined ? undefined : placeOf(store),
    run,
    profile: options.profile === undefined ? undefined : profileNamed(options.profile),
    explain: options.explain ?? false,
    quiet: options.quiet ?? false,
    colour: options.colour ?? false,
    columns: Math.max(60, columns),
    write: options.write ?? (() => {}),
  };
}

const profiles: readonly ProviderProfile[] = [
  known.openai,
  known.openaiResponses,
  known.anthropic,
  known.gemini,
  known.bedrock,
  known.mistral,
  known.strict,
];

function profileNamed(name: string): ProviderProfile {
  const found = profiles.find((profile) => profile.name === name);
  if (found !== undefined) return found;
  const names = profiles.map((profile) => profile.name).join(", ");
  throw invalidOption(`profile must be one of ${names}, not ${JSON.stringify(name)}.`);
}

function checkNumber(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return;
  throw noWholeNumber(name, String(value));
}

export function noWholeNumber(name: string, given: string): TurnkeepError {
  return invalidOption(`${name} must be a positive whole number, not ${given}.`);
}
