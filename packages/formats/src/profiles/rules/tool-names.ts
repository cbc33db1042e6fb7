import type { MessageFormat, ToolResultRef } from "@turnkeep/core";
import { callsOfProvider } from "../about.ts";
import { pattern } from "../fields.ts";
import { methodOf } from "../method-of.ts";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/** The tool name of a call matches the pattern, and so does that of a result, if it has one. */
export type ToolNames = Rule<"tool-names", { readonly pattern: RegExp }>;

export const toolNames: RuleKind<ToolNames> = {
  fields: { pattern },
  repair: withToolNames,
  breaks: wrongNames,
};

/**
 * The messages with names of tools that the provider takes, in calls and results alike. A name that it takes stays: it may
 * be a tool's. What another becomes depends on the name alone, so that a call, its results and every view agree. Two names
 * may become the same one: what tells calls apart is their ids.
 */
function withToolNames<M>(messages: readonly M[], format: MessageFormat<M>, { pattern }: ToolNames): M[] {
  let providers: ReadonlySet<string> | undefined;
  const isMadeUp = ({ id, name }: ToolResultRef): boolean => {
    if (!isRefused(name, pattern)) return false;
    providers ??= callsOfProvider(messages, format);
    return !providers.has(id);
  };
  return messages.map((message) => {
    if (!format.toolCalls(message).some(isMadeUp) && !format.toolResults(message).some(isMadeUp))
      return message;
    return methodOf(format, "renameTools")(message, (name) =>
      isRefused(name, pattern) ? made(name, pattern) : name,
    );
  });
}

function isRefused(name: string | undefined, pattern: RegExp): boolean {
  return name !== undefined && !pattern.test(name);
}

/** What every provider takes at most, so that a name becomes the same one for all of them. */
const maxLength = 64;

/** Letters, digits, `_` and `-`; with `_` in front where the provider takes it only so. */
function made(name: string, pattern: RegExp): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
  const begun = `_${plain}`.slice(0, maxLength);
  return !pattern.test(plain) && pattern.test(begun) ? begun : plain;
}

function* wrongNames<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern }: ToolNames,
): Generator<Finding, undefined> {
  const providers = callsOfProvider(messages, format);
  const calls = new Set<string>();
  for (const [index, message] of messages.entries()) {
    for (const { id, name, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted === true) continue;
      calls.add(id);
      if (isRefused(name, pattern)) yield [index, "a call's tool has a name that the provider refuses"];
    }
    const isAnswering = format.role(message) !== "assistant";
    for (const { id, name } of format.toolResults(message)) {
      const isWrong = isRefused(name, pattern) && !providers.has(id);
      if (isWrong && (isAnswering || calls.has(id)))
        yield [index, "a result's tool has a name that the provider refuses"];
    }
  }
}
