import type { MessageFormat } from "@turnkeep/core";

/**
 * Whether a provider would take the list: each result stands behind its call, and each call is answered before
 * anything else is said.
 */
export function isAccepted(messages: readonly unknown[], format: MessageFormat<unknown>): boolean {
  const open = new Set<string>();
  for (const message of messages) {
    const calls = format.toolCalls(message);
    const role = format.role(message);
    if (role !== "tool" && open.size > 0) return false;
    for (const call of calls) open.add(call.id);
    for (const result of format.toolResults(message)) if (!open.delete(result.id)) return false;
  }
  return true;
}
