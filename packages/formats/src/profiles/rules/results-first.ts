import type { MessageFormat } from "@turnkeep/core";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/** Tool results stand before what the user says beside them. */
export type ResultsFirst = Rule<"results-first">;

const inFront = <M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] =>
  messages.map((message) => format.resultsFirst?.(message) ?? message);

export const resultsFirst: RuleKind<ResultsFirst> = {
  fields: {},
  repair: inFront,
  breaks: changedBy(inFront, "tool results stand behind what the user says"),
};
