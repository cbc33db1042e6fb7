import type { MessageFormat } from "@turnkeep/core";
import { onlySets } from "@turnkeep/core/format-kit";
import { pattern } from "../fields.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** No two neighbours only set something of that name: see `MessageFormat.sets`. */
export type SettingsApart = Rule<"settings-apart", { readonly names: RegExp }>;

/** Neighbours become what they leave in force. One that says something beside what it sets stays whole. */
export const settingsApart: RuleKind<SettingsApart> = {
  fields: { names: pattern },
  repair<M>(messages: readonly M[], format: MessageFormat<M>, rule: SettingsApart) {
    const apart: M[] = [];
    for (let index = 0; index < messages.length; ) {
      const start = index++;
      while (index < messages.length && areNeighbours(messages, index, format, rule)) index++;
      const run = messages.slice(start, index);
      apart.push(...(run.length > 1 ? (format.inForce?.(run) ?? run) : run));
    }
    return apart;
  },
  breaks: (messages, format, rule) =>
    where(
      messages,
      (_, index) => areNeighbours(messages, index, format, rule),
      "the message before it sets something too",
    ),
};

/** Whether a message and the one before it both set such a thing, and say nothing. */
function areNeighbours<M>(
  messages: readonly M[],
  index: number,
  format: MessageFormat<M>,
  { names }: SettingsApart,
): boolean {
  const isOne = (message: M | undefined): boolean =>
    message !== undefined &&
    (format.sets?.(message) ?? []).some((name) => names.test(name)) &&
    onlySets(message, format);
  return isOne(messages[index]) && isOne(messages[index - 1]);
}
