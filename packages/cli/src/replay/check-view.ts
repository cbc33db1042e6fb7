import type { MessageFormat } from "@turnkeep/core";

/**
 * Whether a provider would take the list: each result stands behind its call, and each call is answered before
 * anything else is said, but for those that the provider runs itself: it answers them when it likes.
 */
export function isAccepted(messages: readonly unknown[], format: MessageFormat<unknown>): boolean {
  const open = new Set<string>();
  const providers = new Set<string>();
  for (const message of messages) {
    const calls = format.toolCalls(message);
    const role = format.role(message);
    if (role !== "tool" && open.size > 0) return false;
    for (const call of calls) (call.providerExecuted === true ? providers : open).add(call.id);
    for (const { id } of format.toolResults(message))
      if (!open.delete(id) && !providers.delete(id)) return false;
  }
  return true;
}
