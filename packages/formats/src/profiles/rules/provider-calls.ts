import type { MessageFormat, ToolCallRef } from "@turnkeep/core";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { withoutOrphanApprovals } from "../about.ts";
import { patternsOf } from "../fields.ts";
import { withoutLostCallers } from "../lost-callers.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/**
 * No call that another provider ran is sent, and no result without its call: `own` recognises a provider's own calls by
 * their names and ids. With `answered`, they go with their results, which only the model's messages hold: the AI SDK puts
 * the error of a call whose input was no JSON into a tool message (https://github.com/vercel/ai/issues/17366). A call that
 * the provider has yet to run, because nobody has said anything since, may lack one. With `apart`, a result may stand
 * without its call. A call that the model's code made names no call that is gone: `@ai-sdk/anthropic` 3.0.140 leaves such
 * a `caller` out too.
 */
export type ProviderCalls = Rule<
  "provider-calls",
  {
    readonly own?: { readonly name?: RegExp | undefined; readonly id?: RegExp | undefined } | undefined;
    readonly answered?: boolean | undefined;
    readonly apart?: boolean | undefined;
  }
>;

/** The calls that a provider ran itself go, and its results: what the model made of them stays. */
export const providerCalls: RuleKind<ProviderCalls> = {
  fields: {
    own: optional(patternsOf("name", "id")),
    answered: optional(oneOf(true, false)),
    apart: optional(oneOf(true, false)),
  },
  leavesOut: true,
  repair(messages, format, rule) {
    const refused = refusedCalls(messages, format, rule);
    if (refused.size === 0) return withoutLostCallers(messages, format);
    const isRefused = (id: string): boolean => refused.has(id);
    const left = messages.flatMap((message) => {
      if (!holdsOneOf(message, refused, format)) return [message];
      return format.without(message, { toolCalls: isRefused, toolResults: isRefused }) ?? [];
    });
    return withoutLostCallers(withoutOrphanApprovals(left, format), format);
  },
  breaks(messages, format, rule) {
    const refused = refusedCalls(messages, format, rule);
    const called = withoutLostCallers(messages, format);
    return where(
      messages,
      (message, index) => holdsOneOf(message, refused, format) || called[index] !== message,
      "a call that another provider ran, or half of one that this provider runs, stands here",
    );
  },
};

/** The calls that a provider ran and this one refuses, by their ids, and those of results whose call is not there. */
function refusedCalls<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { own, answered, apart }: ProviderCalls,
): ReadonlySet<string> {
  const refused = new Set<string>();
  const made = new Set<string>();
  const run = new Set<string>();
  let open = new Set<string>();
  const endTurn = (): void => {
    if (answered === true) for (const id of open) refused.add(id);
    open = new Set();
  };
  for (const message of messages) {
    const role = format.role(message);
    if (role === "user") endTurn();
    const calls = format.toolCalls(message);
    for (const call of calls) {
      made.add(call.id);
      if (call.providerExecuted !== true) continue;
      run.add(call.id);
      if (isOwn(call, own)) open.add(call.id);
      else refused.add(call.id);
    }
    for (const { id } of format.toolResults(message)) {
      open.delete(id);
      if (answered === true && role !== "assistant" && run.has(id)) refused.add(id);
      if (role !== "assistant" || made.has(id)) continue;
      if (apart !== true || own?.id?.test(id) === false) refused.add(id);
    }
    // The model has gone on without the result.
    if (role === "assistant" && calls.length === 0) endTurn();
  }
  return refused;
}

function isOwn({ id, name }: ToolCallRef, own: ProviderCalls["own"]): boolean {
  if (own === undefined) return false;
  return (own.id?.test(id) ?? true) && (own.name?.test(name) ?? true);
}

/** Whether a message holds one of the calls, or a result of one. */
function holdsOneOf<M>(message: M, ids: ReadonlySet<string>, format: MessageFormat<M>): boolean {
  return [...format.toolCalls(message), ...format.toolResults(message)].some(({ id }) => ids.has(id));
}
