import type { AgentInputItem, SessionHistoryTransactionArgs } from "@openai/agents-core";
import { type Entry, entry } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import { canonical } from "./items.ts";

/**
 * What tells of an operation that it was applied: a message that is superseded at once, so that it stands in the history of
 * the store beside what the operation changed, and nobody is shown it.
 */
export async function markOf({
  operationId,
  transaction,
}: SessionHistoryTransactionArgs): Promise<{ readonly id: string; readonly mark: Entry<AgentInputItem> }> {
  if (typeof operationId !== "string" || operationId.trim() === "") {
    throw invalidOption("operationId must be a text that is not blank.");
  }
  const { type } = transaction;
  if (type !== "append_items" && type !== "replace_suffix") {
    throw invalidOption('transaction.type must be "append_items" or "replace_suffix".');
  }
  // Ids of operations may be longer than those of messages.
  const id = `operation-${await hashOf(operationId)}`;
  const message = {
    type: "unknown",
    providerData: { operation: await hashOf(canonical(transaction)) },
  } as const;
  return { id, mark: entry<AgentInputItem>(message, { id }) };
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
