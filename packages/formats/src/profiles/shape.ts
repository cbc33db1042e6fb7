import type { MessageFormat, ShapedView, ViewStage } from "@turnkeep/core";
import type { Unshaped } from "./rule.ts";
import { kindOfRule, type ProviderRule } from "./rules.ts";

/**
 * Brings a list of messages, whose calls and results are in order, into the shape that the rules require. They are in the
 * order of repair.
 */
export function shape<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  profile: string,
  rules: readonly ProviderRule[],
): ShapedView<M> {
  const unshaped: Unshaped<M> = {
    messages,
    isLeftOut(message) {
      const leaving = rules.filter((rule) => kindOfRule(rule)?.leavesOut);
      return shape([message], format, profile, leaving).messages.length === 0;
    },
  };
  const stages: ViewStage<M>[] = [];
  let current = messages;
  for (const rule of rules) {
    const repaired = kindOfRule(rule)?.repair?.(current, format, rule, unshaped) ?? current;
    if (isSame(repaired, current)) continue;
    stages.push({ name: rule.rule, messages: repaired });
    current = repaired;
  }
  for (const rule of rules) kindOfRule(rule)?.refuse?.(current, format, rule, profile);
  return { messages: [...current], stages };
}

function isSame<M>(messages: readonly M[], before: readonly M[]): boolean {
  return messages.length === before.length && messages.every((message, index) => message === before[index]);
}
