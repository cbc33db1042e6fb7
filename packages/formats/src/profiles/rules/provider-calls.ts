import type { MessageFormat, ToolCallRef } from "@turnkeep/core";
import type { RuleNamed } from "../rules.ts";

/** The calls that the provider runs itself: it answers them in whatever message it goes on with. */
export function callsOfProvider<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlySet<string> {
  const calls = messages.flatMap((message) => format.toolCalls(message));
  return new Set(calls.filter((call) => call.providerExecuted === true).map(({ id }) => id));
}

/** The calls that a provider ran and this one refuses, by their ids, and those of results whose call is not there. */
export function refusedProviderCalls<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { own, answered, apart }: RuleNamed<"provider-calls">,
): ReadonlySet<string> {
  const refused = new Set<string>();
  const made = new Set<string>();
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
      if (isOwn(call, own)) open.add(call.id);
      else refused.add(call.id);
    }
    for (const { id } of format.toolResults(message)) {
      open.delete(id);
      if (role !== "assistant" || made.has(id)) continue;
      if (apart !== true || own?.id?.test(id) === false) refused.add(id);
    }
    // The model has gone on without the result.
    if (role === "assistant" && calls.length === 0) endTurn();
  }
  return refused;
}

function isOwn({ id, name }: ToolCallRef, own: RuleNamed<"provider-calls">["own"]): boolean {
  if (own === undefined) return false;
  return (own.id?.test(id) ?? true) && (own.name?.test(name) ?? true);
}

/** Whether a message holds one of the calls, or a result of one. */
export function holdsOneOf<M>(message: M, ids: ReadonlySet<string>, format: MessageFormat<M>): boolean {
  return [...format.toolCalls(message), ...format.toolResults(message)].some(({ id }) => ids.has(id));
}
