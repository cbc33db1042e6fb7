import type { AgentInputItem } from "@openai/agents-core";
import type { MemoryTransaction } from "@turnkeep/core";
import type { Recorded } from "./record.ts";

/** Puts other items in the place of these, or none, wherever they stand. */
export function rewrite(
  transaction: MemoryTransaction<AgentInputItem>,
  record: readonly Recorded[],
  now: ReadonlyMap<string, AgentInputItem | undefined>,
): void {
  for (const { id } of record) {
    const item = now.get(id);
    if (item !== undefined) transaction.put(id, item);
    else if (now.has(id)) transaction.remove(id, { only: true });
  }
}
