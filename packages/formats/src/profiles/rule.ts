import type { MessageFormat } from "@turnkeep/core";
import type { Fields } from "@turnkeep/core/store-kit";

/**
 * One rule of a provider, as data. `source` is where the rule is documented, or a public report of a request that was
 * refused for breaking it.
 */
export type Rule<N extends string = string, Own = unknown> = {
  readonly rule: N;
  readonly source: string;
} & Own;

/** What breaks a rule, and at which message. */
export type Finding = readonly [index: number, problem: string];

/** What a rule does: one file each in `rules/`, beside the rule's data. All of it is pure, without clock or chance. */
export interface RuleKind<R extends Rule = Rule> {
  /** What a rule of this kind holds beside its name and its source. */
  readonly fields: Fields<Omit<R, "rule" | "source">>;
  /** May take whole messages out of a view. */
  readonly leavesOut?: true;
  /**
   * The messages as the rule wants them; those that need no change are the same objects. Absent where core has done it
   * already, or nothing can. Errors: `UNSUPPORTED` if the format lacks a method that a change needs.
   */
  repair?<M>(messages: readonly M[], format: MessageFormat<M>, rule: R, unshaped: Unshaped<M>): readonly M[];
  /** What breaks the rule: nothing in what `repair` gives back. */
  breaks<M>(messages: readonly M[], format: MessageFormat<M>, rule: R): Iterable<Finding>;
  /** Refuses what a view has too much of, once all repairs are done. Errors: `WINDOW_OVERFLOW`. */
  refuse?<M>(messages: readonly M[], format: MessageFormat<M>, rule: R, profile: string): void;
}

/** A view before any rule changed it. */
export interface Unshaped<M> {
  readonly messages: readonly M[];
  /** Whether the profile's rules leave this message out of the view. */
  isLeftOut(message: M): boolean;
}

/** One finding for each message that is wrong. */
export function where<M>(
  messages: readonly M[],
  isWrong: (message: M, index: number) => boolean,
  problem: string,
): Finding[] {
  return messages.flatMap((message, index) => (isWrong(message, index) ? [[index, problem] as const] : []));
}

/** For a rule that changes messages one by one: each message that its repair changes breaks it. */
export function changedBy<R extends Rule>(
  repair: <M>(messages: readonly M[], format: MessageFormat<M>, rule: R) => readonly M[],
  problem: string | ((rule: R) => string),
): RuleKind<R>["breaks"] {
  return (messages, format, rule) => {
    const repaired = repair(messages, format, rule);
    const told = typeof problem === "string" ? problem : problem(rule);
    return where(messages, (message, index) => message !== repaired[index], told);
  };
}
