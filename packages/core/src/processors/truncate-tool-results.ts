import { integer, tokenCounter, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { TokenCounter } from "../window-options.ts";
import { beginning, ending, fits } from "./cut-text.ts";
import { mapTextOf } from "./map-text.ts";
import type { AnyProcessor } from "./processor.ts";
import { eachMessage } from "./shown.ts";
import { textTokens } from "./text-tokens.ts";

/** Options of {@link truncateToolResults}. */
export interface TruncateToolResultsOptions {
  /** Texts of tool results with more tokens than this are cut. */
  readonly maxTokens: number;
  /** Tokens kept of the start. Default: what `maxTokens` leaves beside `tail` and notice; 3/4 of it without `tail`. */
  readonly head?: number | undefined;
  /** Tokens kept from the end. Default: what `maxTokens` leaves beside `head` and the notice. */
  readonly tail?: number | undefined;
  /** Counts the texts. */
  readonly counter: TokenCounter;
}

const name = "truncate-tool-results";

const fields = {
  maxTokens: integer(1),
  head: optional(integer(0)),
  tail: optional(integer(0)),
  counter: tokenCounter,
} satisfies Fields<TruncateToolResultsOptions>;

const notice = (characters: number): string => `\n[… ${characters} characters left out …]\n`;
const longestNotice: string = notice(2 ** 40);

/**
 * Cuts long texts of tool results: their beginning and end stay, with a notice in between that says how much was left
 * out. The result has at most `maxTokens` tokens. A result that is JSON becomes a text; of what an API takes
 * in one shape alone, such as what it ran itself, each text is cut. The call stays answered.
 *
 * Errors: `INVALID_OPTION`, also if `head`, `tail` and the notice (some 15 tokens) exceed `maxTokens`; at run time,
 * `UNSUPPORTED` for a format without `mapText`.
 *
 * @example
 * ```ts
 * import type { TokenCounter } from "@turnkeep/core";
 * import { truncateToolResults } from "@turnkeep/core/processors";
 *
 * declare const counter: TokenCounter; // tokenCounter("o200k_base") of @turnkeep/tokens
 * const processors = [truncateToolResults({ maxTokens: 2_000, tail: 500, counter })];
 * ```
 */
export function truncateToolResults(options: TruncateToolResultsOptions): AnyProcessor {
  const { maxTokens, head, tail, count } = checkedOptions(options);
  const cut = (text: string): string => {
    if (fits(text, maxTokens, count)) return text;
    const end = ending(text, tail, count);
    for (let tokens = head; ; ) {
      const start = beginning(text, tokens, count);
      const kept = start + notice(text.length - start.length - end.length) + end;
      const over = count(kept) - maxTokens;
      // At the seams, a tokenizer may need more tokens than for the pieces apart.
      if (over <= 0 || tokens === 0) return kept;
      tokens = Math.max(0, tokens - over);
    }
  };
  const processor = eachMessage(name, (format) => {
    const mapText = mapTextOf(format, name);
    return (message) => {
      if (format.toolResults(message).length === 0) return message;
      return mapText(message, (text, of) => (of === "tool-result" ? cut(text) : text));
    };
  });
  return Object.assign(processor, { shortens: true });
}

function checkedOptions(options: TruncateToolResultsOptions): {
  readonly maxTokens: number;
  readonly head: number;
  readonly tail: number;
  readonly count: (text: string) => number;
} {
  const taken = takeOptions("truncateToolResults", fields, options, "truncateToolResults.");
  const { maxTokens, counter } = taken;
  const count = textTokens(counter);
  const room = maxTokens - count(longestNotice);
  if (room < 0) {
    const least = `at least ${count(longestNotice)}, what the notice of a cut takes`;
    throw wrongOption("truncateToolResults.maxTokens", maxTokens, least);
  }
  const head = taken.head ?? (taken.tail === undefined ? Math.ceil(room * 0.75) : room - taken.tail);
  const tail = taken.tail ?? room - head;
  if (head < 0 || tail < 0 || head + tail > room) {
    const given = `${taken.head ?? "none"} and ${taken.tail ?? "none"}`;
    throw wrongOption(
      "truncateToolResults.head and tail",
      given,
      `at most ${room} together, what maxTokens leaves beside the notice of a cut`,
    );
  }
  return { maxTokens, head, tail, count };
}
