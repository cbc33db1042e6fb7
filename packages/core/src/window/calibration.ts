import { invalidOption } from "../errors.ts";
import type { CalibrateOptions } from "../memory-call-options.ts";
import { elsewhere, integer, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { Item, ItemReader } from "../steps/item.ts";
import { tokensOf } from "../steps/item-facts.ts";

/** The messages that a view showed, and the items it was made of. */
export interface ShownView<M> {
  readonly messages: readonly M[];
  readonly items: readonly Item<M>[];
}

/**
 * What a provider counts for messages that the counter counts as `n` tokens: `n × reported / counted + extra`, rounded
 * up. A fraction of two integers, so that the view it was made from gives exactly what was reported. A rate below 1
 * applies only to as many tokens as it was reported for, and tokens beyond them count in full: a short view is mostly
 * framing, which says nothing about the text to come.
 */
export interface Correction {
  readonly reported: number;
  readonly counted: number;
  readonly extra: number;
}

export const uncorrected: Correction = { reported: 1, counted: 1, extra: 0 };

export function corrected(tokens: number, { reported, counted, extra }: Correction): number {
  const beyond = reported < counted ? Math.max(0, tokens - counted) : 0;
  return Math.ceil(((tokens - beyond) * reported) / counted) + beyond + extra;
}

/**
 * The range of rates that different tokenizers explain. Below it, the reported number left something out, such as
 * cached tokens; above it, it included something that is not a message of the view.
 */
const lowestRate = 0.5;
const highestRate = 4;

/**
 * Providers cache prompts from about this many tokens on. A shorter prompt cannot lack cached tokens; it is mostly
 * framing, for which a bound counts twice what there is.
 */
const shortestCached = 1024;

/** A correction, and whether the reported number could be taken as a rate. */
export interface Calibration {
  readonly correction: Correction;
  readonly plausible: boolean;
}

/** Never corrects the view to less than was reported for it. */
export function calibration(counted: number, reported: number): Calibration {
  const lowest = Math.ceil(counted * lowestRate);
  if (reported < lowest) {
    return { correction: { reported: lowest, counted, extra: 0 }, plausible: counted < shortestCached };
  }
  if (reported > counted * highestRate) {
    const extra = reported - counted * highestRate;
    return { correction: { reported: highestRate, counted: 1, extra }, plausible: false };
  }
  return { correction: { reported, counted, extra: 0 }, plausible: true };
}

const fields = {
  inputTokens: integer(1),
  otherTokens: optional(elsewhere, 0),
} satisfies Fields<CalibrateOptions>;

/** What the provider counted for the messages alone. Errors: `INVALID_OPTION`. */
export function reportedTokens(options: CalibrateOptions): number {
  const { inputTokens, otherTokens } = takeOptions("calibrate's argument", fields, options, "calibrate's ");
  if (!Number.isSafeInteger(otherTokens) || otherTokens < 0 || otherTokens >= inputTokens) {
    const expected = `a non-negative integer below inputTokens, which is ${inputTokens}`;
    throw wrongOption("otherTokens", otherTokens, expected);
  }
  return inputTokens - otherTokens;
}

/** What the counter counts for a view. Errors: `INVALID_OPTION` if there is none, or nothing in it. */
export function countShown<M>(shown: ShownView<M> | undefined, reader: ItemReader<M>): number {
  const { counter } = reader;
  if (counter === undefined) {
    throw invalidOption(
      "calibrate corrects a window's token counts: give window.maxTokens and window.counter.",
    );
  }
  if (shown === undefined) {
    throw invalidOption(
      "calibrate refers to the last view: call messages() or prompt() on this memory first.",
    );
  }
  const tokens = tokensOf(shown.messages, shown.items, reader) + (counter.base ?? 0);
  if (tokens === 0)
    throw invalidOption("calibrate needs a view that holds something: the last one counts 0 tokens.");
  return tokens;
}
