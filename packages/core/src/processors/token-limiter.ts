import { TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import type { TokenCounter, WindowOverflow } from "../window-options.ts";
import { cutBefore } from "./border.ts";
import { type Group, grouper } from "./grouping.ts";
import { type AnyProcessor, checkCounter, checkInteger, checkObject, invalid } from "./options.ts";
import { perMessage } from "./per-message.ts";

export interface TokenLimiterOptions {
  /** At most so many tokens by `counter`, its `base` and `reserve` included. A positive integer. */
  readonly limit: number;
  /** Asked once for each frozen message, such as those of a memory. */
  readonly counter: TokenCounter;
  /** Tokens kept free for what is no message: tool definitions, the answer. Default 0. */
  readonly reserve?: number | undefined;
  /** What is left out at once: a step, or a whole turn, so that the user's question comes first. Default `step`. */
  readonly unit?: "step" | "turn" | undefined;
  /**
   * 0 < target ≤ 1. Once over the limit, the cut moves on in strides of (1 - target) of the room that there is for steps,
   * so that the prompt's beginning stays the same meanwhile. 1 keeps as much as fits. Default 0.7, as in windows.
   */
  readonly target?: number | undefined;
  /**
   * What happens when the newest step alone does not fit: `throw` (default), `keep` it all the same, or `evict` it too,
   * which may leave nothing at all.
   */
  readonly overflow?: WindowOverflow | undefined;
}

const name = "token-limiter";
const overflows: readonly unknown[] = ["throw", "keep", "evict"];

/**
 * Leaves out the oldest steps until the rest fits the limit. Steps are kept or left out whole, and what is kept of them
 * has no gap. System messages stay, and so does a provider's newest compaction item; what stands before that goes first.
 * Let it be the last of a chain: what others leave out or shorten makes room. It sees messages only: a memory that pins
 * some, or summarizes, has its limit in `window`.
 *
 * The cut depends on the list alone. While messages are added it stays where it is, and moves on by a stride (see
 * `target`); more often only where a step is longer than that. What is kept fills the room but for a stride and a step.
 *
 * Errors: `INVALID_OPTION`, also while it runs for a counter that answers no non-negative integer; while it runs,
 * `WINDOW_OVERFLOW` with `details.needed` and `details.limit`.
 *
 * @example
 * ```ts
 * import { type TokenCounter, user } from "@turnkeep/core";
 * import { applyProcessors, tokenLimiter } from "@turnkeep/core/processors";
 *
 * const counter: TokenCounter = { name: "words", count: (message, of) => of.pieces(message).length };
 * const shown = await applyProcessors([user("One"), user("Two")], [tokenLimiter({ limit: 1, counter })]);
 * // [user("Two")]
 * ```
 */
export function tokenLimiter(options: TokenLimiterOptions): AnyProcessor {
  const checked = checkedOptions(options);
  const { limit, counter, reserve } = checked;
  const known = perMessage();
  const counted: TokenCounter = {
    name: counter.name,
    count: (message, format) => known(message, format, () => counter.count(message, format)),
  };
  const group = grouper();
  return {
    name,
    limitsView: true,
    process<M>(messages: readonly M[], { format }: { readonly format: MessageFormat<M> }): readonly M[] {
      const grouping = group(messages, { format, counter: counted, pinned: undefined });
      if (grouping.tokens + (counter.base ?? 0) + reserve <= limit) return messages;
      const isGone = new Uint8Array(messages.length);
      for (const { items } of leftOut(grouping.groups(), checked)) {
        for (const { seq } of items) isGone[seq] = 1;
      }
      return messages.filter((_, index) => isGone[index] === 0);
    },
  };
}

type Checked = Required<{ [Name in keyof TokenLimiterOptions]: NonNullable<TokenLimiterOptions[Name]> }>;

function checkedOptions(options: TokenLimiterOptions): Checked {
  checkObject("tokenLimiter", options);
  const { limit, counter, reserve = 0, unit = "step", target = 0.7, overflow = "throw" } = options;
  checkInteger("tokenLimiter.limit", limit, 1);
  checkCounter("tokenLimiter.counter", counter);
  checkInteger("tokenLimiter.reserve", reserve, 0);
  if (reserve >= limit) throw invalid("tokenLimiter.reserve", reserve, `smaller than the limit, ${limit}`);
  if (unit !== "step" && unit !== "turn") throw invalid("tokenLimiter.unit", unit, "step or turn");
  if (typeof target !== "number" || !(target > 0 && target <= 1)) {
    throw invalid("tokenLimiter.target", target, "greater than 0 and at most 1");
  }
  if (!overflows.includes(overflow)) throw invalid("tokenLimiter.overflow", overflow, "throw, keep or evict");
  return { limit, counter, reserve, unit, target, overflow };
}

function leftOut<M>(all: readonly Group<M>[], options: Checked): readonly Group<M>[] {
  const { limit, counter, reserve, unit, target, overflow } = options;
  const boundary = all.findLastIndex((step) => step.items.some((item) => item.boundary));
  const beyond = all.slice(0, Math.max(boundary, 0)).filter((step) => !isSystem(step));
  const stays = all.filter((step, index) => index === boundary || isSystem(step));
  const steps = all.slice(boundary + 1).filter((step) => !isSystem(step));

  const fixed = stays.reduce((sum, step) => sum + step.tokens, (counter.base ?? 0) + reserve);
  const cut = (from: number, room: number, mayBegin: (index: number) => boolean): number | undefined => {
    const part = steps.slice(from).map(({ tokens }) => tokens);
    const stride = Math.floor(Math.max(0, room) * (1 - target));
    const before = cutBefore({ costs: part, mayBegin: (index) => mayBegin(from + index), room, stride });
    return before === undefined ? undefined : from + before;
  };

  const whole = cut(0, limit - fixed, (index) => unit === "step" || isUser(steps[index]));
  if (whole !== undefined && fixed <= limit) return [...beyond, ...steps.slice(0, whole)];
  // The newest turn alone is too long: what lies between its question and its newest step goes, oldest first.
  const question = unit === "turn" ? steps.findLastIndex(isUser) : -1;
  const asked = steps[question];
  const room = limit - fixed - (asked?.tokens ?? 0);
  const within = question < 0 && unit === "step" ? undefined : cut(question + 1, room, () => true);
  const older = [...beyond, ...steps.slice(0, Math.max(question, 0))];
  if (within !== undefined && room >= 0) return [...older, ...steps.slice(question + 1, within)];

  const newest = steps.at(-1);
  if (overflow === "evict") return [...beyond, ...steps];
  const kept = new Set([asked, newest]);
  if (overflow === "keep") return [...beyond, ...steps.filter((step) => !kept.has(step))];
  const needed = [...kept].reduce((sum, step) => sum + (step?.tokens ?? 0), fixed);
  throw new TurnkeepError(
    "WINDOW_OVERFLOW",
    `The processor ${JSON.stringify(name)} cannot make the messages fit: the newest step with what always stays needs ` +
      `${needed} tokens, its limit is ${limit}. Raise the limit, shorten the messages, or set overflow to "keep" or "evict".`,
    { details: { needed, limit } },
  );
}

function isSystem<M>(step: Group<M>): boolean {
  return step.items[0]?.role === "system";
}

function isUser<M>(step: Group<M> | undefined): boolean {
  return step?.items[0]?.role === "user";
}
