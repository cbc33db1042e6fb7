import type { MessageFormat, ToolResultRef } from "@turnkeep/core";
import { methodOf } from "../method-of.ts";
import { callsOfProvider } from "./provider-calls.ts";

/** How a provider wants the names of tools to look. */
export interface ToolNameRule {
  readonly pattern: RegExp;
}

/**
 * The messages with names of tools that the provider takes, in calls and results alike. A name that it takes stays: it may
 * be a tool's. What another becomes depends on the name alone, so that a call, its results and every view agree. Two names
 * may become the same one: what tells calls apart is their ids.
 */
export function withToolNames<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern }: ToolNameRule,
): M[] {
  const isRefused = (name: string | undefined): boolean => name !== undefined && !pattern.test(name);
  let providers: ReadonlySet<string> | undefined;
  const isMadeUp = ({ id, name }: ToolResultRef): boolean => {
    if (!isRefused(name)) return false;
    providers ??= callsOfProvider(messages, format);
    return !providers.has(id);
  };
  return messages.map((message) => {
    if (!format.toolCalls(message).some(isMadeUp) && !format.toolResults(message).some(isMadeUp))
      return message;
    return methodOf(format, "renameTools")(message, (name) => (isRefused(name) ? made(name, pattern) : name));
  });
}

/** What every provider takes at most, so that a name becomes the same one for all of them. */
const maxLength = 64;

/** Letters, digits, `_` and `-`; with `_` in front where the provider takes it only so. */
function made(name: string, pattern: RegExp): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxLength);
  const begun = `_${plain}`.slice(0, maxLength);
  return !pattern.test(plain) && pattern.test(begun) ? begun : plain;
}
