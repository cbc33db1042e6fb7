import { quoted, TurnkeepError } from "../errors.ts";
import { integer, oneOf, share, tokenCounter, wrongOption } from "../option-checks.ts";
import { type Fields, optional, type Taken, takeOptions } from "../option-fields.ts";
import { countOnce } from "../steps/item-facts.ts";
import type { TokenCounter, WindowOverflow } from "../window-options.ts";
import { cutAt } from "./border.ts";
import { type Group, Grouping } from "./grouping.ts";
import { listSteps } from "./list-steps.ts";
import { listOf } from "./message-list.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";

/** Options of {@link tokenLimiter}. */
export interface TokenLimiterOptions {
  /** At most this many tokens by `counter`, its `base` and `reserve` included. A positive integer. */
  readonly limit: number;
  /** Called once for each frozen message; messages of a memory are frozen. */
  readonly counter: TokenCounter;
  /** Tokens kept free for everything that is not a message: tool definitions, the answer. Default 0. */
  readonly reserve?: number | undefined;
  /** What is left out at once: a step, or a whole turn, so that a user's question comes first. Default `step`. */
  readonly unit?: "step" | "turn" | undefined;
  /**
   * 0 < target ≤ 1. Once over the limit, the cut moves in strides of (1 - target) of the room for steps, so that the
   * prompt's beginning stays the same in between. 1 keeps as much as fits. Default 0.7, as in windows.
   */
  readonly target?: number | undefined;
  /**
   * What happens if the newest step alone does not fit: `throw` (default), `keep` it all the same, or `evict` it too,
   * which may leave nothing at all.
   */
  readonly overflow?: WindowOverflow | undefined;
}

const name = "token-limiter";

const fields = {
  limit: integer(1),
  counter: tokenCounter,
  reserve: optional(integer(0), 0),
  unit: optional(oneOf("step", "turn"), "step"),
  target: optional(share, 0.7),
  overflow: optional(oneOf("throw", "keep", "evict"), "throw"),
} satisfies Fields<TokenLimiterOptions>;

type Checked = Taken<TokenLimiterOptions, typeof fields>;

/**
 * Leaves out the oldest steps until the rest fits the limit. Steps are kept or left out whole, and the kept ones have
 * no gap. System messages stay, and so does a provider's newest compaction item; what stands before that item goes
 * first. Put it last in a chain: what others leave out or shorten makes room. It sees messages only: a memory that pins
 * some, or summarizes, needs its limit in `window`.
 *
 * The cut depends on the list alone. While messages are added it stays in place, then moves by a stride (see `target`),
 * or sooner if a step is longer than a stride. What is kept fills the room except for a stride and a step.
 *
 * Errors: `INVALID_OPTION`, also at run time for a counter that returns anything but a non-negative integer; at run
 * time, `WINDOW_OVERFLOW` with `details.needed` and `details.limit`.
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
  const checked = takeOptions("tokenLimiter", fields, options, "tokenLimiter.");
  const { limit, counter, reserve } = checked;
  if (reserve >= limit)
    throw wrongOption("tokenLimiter.reserve", reserve, `smaller than the limit, ${limit}`);
  const processor: AnyProcessor = {
    name,
    limitsView: true,
    process<M>(given: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const list = listOf(given, format);
      const { messages } = list;
      const steps = listSteps(list);
      const tokensOf = (message: M): number => countOnce(message, counter, format);
      const { grouping } = list.states(processor, () => ({ grouping: new Grouping(steps, tokensOf) }));
      grouping.grow();
      if (grouping.tokens + (counter.base ?? 0) + reserve <= limit) return given;
      const kept = keptOf(grouping, checked).flatMap(({ indices }) => indices);
      return kept.sort((a, b) => a - b).map((at) => messages[at] as M);
    },
  };
  return processor;
}

/** The groups that are shown, in any order. */
function keptOf<M>(all: Grouping<M>, options: Checked): readonly Group<M>[] {
  const { limit, counter, reserve, unit, target, overflow } = options;
  const { boundary } = all;
  const stays = new Set(all.systems);
  if (boundary !== undefined) stays.add(boundary);
  const from = boundary === undefined ? 0 : boundary.at + 1;
  const fixed = (counter.base ?? 0) + reserve + tokensOf(stays);

  const fitting = (oldest: number, room: number, mayBegin: (group: Group<M>) => boolean) => {
    const total = all.tokensFrom(oldest);
    if (total <= room) return [...all.newestFirst(oldest)];
    const stride = Math.floor(Math.max(0, room) * (1 - target));
    const cut = cutAt({ newestFirst: all.newestFirst(oldest), total, mayBegin, room, stride });
    return cut === undefined ? undefined : [...all.newestFirst(cut.at)];
  };

  const newest = fitting(from, limit - fixed, (group) => unit === "step" || group.role === "user");
  if (newest !== undefined) return [...stays, ...newest];
  const least = new Set(stays);
  if (unit === "turn") {
    // The newest turn alone is too long: the steps between its question and its newest step go, oldest first.
    const { question } = all;
    const isAsked = question !== undefined && question.at >= from;
    if (isAsked) least.add(question);
    const room = limit - fixed - (isAsked ? question.tokens : 0);
    const within = fitting(isAsked ? question.at + 1 : from, room, () => true);
    if (within !== undefined) return [...least, ...within];
  }

  if (overflow === "evict") return [...stays];
  for (const step of all.newestFirst(from)) {
    least.add(step);
    break;
  }
  if (overflow === "keep") return [...least];
  const needed = (counter.base ?? 0) + reserve + tokensOf(least);
  throw new TurnkeepError(
    "WINDOW_OVERFLOW",
    `The processor ${quoted(name)} cannot make the messages fit: the newest step with what always stays needs ` +
      `${needed} tokens, its limit is ${limit}. Raise the limit, shorten the messages, or set overflow to "keep" or "evict".`,
    { details: { needed, limit } },
  );
}

function tokensOf<M>(groups: Iterable<Group<M>>): number {
  let sum = 0;
  for (const { tokens } of groups) sum += tokens;
  return sum;
}
