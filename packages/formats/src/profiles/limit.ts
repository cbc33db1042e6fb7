import { type MessageFormat, TurnkeepError } from "@turnkeep/core";
import { integer } from "@turnkeep/core/store-kit";
import type { Rule, RuleKind } from "./rule.ts";

/** At most this many of something. */
export type LimitRule<N extends string> = Rule<N, { readonly limit: number }>;

/** Where there is more than a limit allows, and how much there is. */
interface LimitExcess {
  readonly index: number;
  readonly needed: number;
}

interface LimitWords {
  /** What is counted, in the plural. */
  readonly counted: string;
  /** What to do about it: a sentence. */
  readonly remedy: string;
}

/** A limit: nothing repairs what exceeds it. */
export function limitOf<N extends string>({
  counted,
  remedy,
  excesses,
}: LimitWords & {
  excesses<M>(messages: readonly M[], format: MessageFormat<M>, limit: number): readonly LimitExcess[];
}): RuleKind<LimitRule<N>> {
  return {
    fields: { limit: integer(0) } as RuleKind<LimitRule<N>>["fields"],
    breaks: (messages, format, { limit }) =>
      excesses(messages, format, limit).map(
        ({ index, needed }) => [index, `${needed} where ${limit} may be`] as const,
      ),
    refuse(messages, format, { limit }, profile) {
      const [first] = excesses(messages, format, limit);
      if (first === undefined) return;
      const { needed } = first;
      throw new TurnkeepError(
        "WINDOW_OVERFLOW",
        `${profile} takes at most ${limit} ${counted}; the view has ${needed}. ${remedy}`,
        { details: { needed, limit } },
      );
    },
  };
}

/** A limit on what one message holds. */
export function limitPerMessage<N extends string>({
  count,
  ...words
}: LimitWords & { count<M>(message: M, format: MessageFormat<M>): number }): RuleKind<LimitRule<N>> {
  return limitOf({
    ...words,
    excesses: (messages, format, limit) =>
      messages.flatMap((message, index) => {
        const needed = count(message, format);
        return needed > limit ? [{ index, needed }] : [];
      }),
  });
}
