import type { AgentInputItem, SessionHistoryTransactionArgs } from "@openai/agents-core";
import { type Entry, entry } from "@turnkeep/core";
import { oneOf, such } from "@turnkeep/core/store-kit";
import { canonical } from "./items.ts";

const checkId = such("a text that is not blank", (value) => typeof value === "string" && value.trim() !== "");
const checkType = oneOf("append_items", "replace_suffix");

/**
 * What tells of an operation that it was applied: a message that is superseded at once, so that it stands in the history of
 * the store beside what the operation changed, and nobody is shown it.
 */
export async function markOf({
  operationId,
  transaction,
}: SessionHistoryTransactionArgs): Promise<{ readonly id: string; readonly mark: Entry<AgentInputItem> }> {
  checkId("operationId", operationId);
  checkType("transaction.type", transaction.type);
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
