import type { MessageFormat } from "@turnkeep/core";
import { Visitor } from "@turnkeep/core/format-kit";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** What a provider does not take back goes: an empty list of calls, an image that was not made. */
export type Unsent = Rule<"unsent">;

/** Answers `undefined` for a message of which no provider is sent anything. */
export class WithoutUnsent extends Visitor {
  override unsent(): undefined {
    return undefined;
  }
}

/** `undefined` if nothing is left that a provider would see. */
function sent<M>(message: M, format: MessageFormat<M>): M | undefined {
  const left = format.visit === undefined ? message : format.visit(message, new WithoutUnsent());
  return left === undefined || left === message || !format.isEmpty(left) ? left : undefined;
}

export const unsent: RuleKind<Unsent> = {
  fields: {},
  leavesOut: true,
  repair: (messages, format) => messages.flatMap((message) => sent(message, format) ?? []),
  breaks: (messages, format) =>
    where(messages, (message) => sent(message, format) !== message, "an empty list, or nothing, stands here"),
};
