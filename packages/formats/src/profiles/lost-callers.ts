import type { MessageFormat } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";

/**
 * Where code that the model wrote made a call, the call, and with some providers its result too, names the call that ran
 * that code: Anthropic as `tool_id`, OpenAI as `caller_id` of its `caller`.
 */
function callerOf(part: Readonly<Record<string, unknown>>): string | undefined {
  const { caller } = part;
  if (!isObject(caller)) return undefined;
  const id = caller.tool_id ?? caller.caller_id;
  return typeof id === "string" ? id : undefined;
}

/** The messages with no `caller` that names a call which is not among them: without it, the model made the call itself. */
export function withoutLostCallers<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  let made: ReadonlySet<string> | undefined;
  const isLost = (id: string): boolean => {
    made ??= new Set(messages.flatMap((message) => format.toolCalls(message).map((call) => call.id)));
    return !made.has(id);
  };
  const kept = <T>(part: T): T => {
    if (!isObject(part)) return part;
    const caller = callerOf(part);
    if (caller === undefined || !isLost(caller)) return part;
    const { caller: _, ...rest } = part;
    return rest as T;
  };
  const keptIn = (message: M): M => {
    const { content } = message as { readonly content?: unknown };
    if (!Array.isArray(content)) return kept(message);
    const parts = content.map(kept);
    return parts.some((part, index) => part !== content[index]) ? { ...message, content: parts } : message;
  };
  return messages.map(keptIn);
}
