import type { AgentInputItem } from "@openai/agents-core";
import type { MemoryTransaction } from "@turnkeep/core";
import type { Recorded } from "./record.ts";

/**
 * Puts other items in the place of these, or none. What has left the window cannot be replaced where it stands: it is taken
 * back with all behind it, which is said anew.
 */
export function rewrite(
  transaction: MemoryTransaction<AgentInputItem>,
  record: readonly Recorded[],
  now: ReadonlyMap<string, AgentInputItem | undefined>,
): void {
  const from = record.findIndex(({ id, state }) => state === "evicted" && now.get(id) !== undefined);
  for (const { id } of from < 0 ? record : record.slice(0, from)) {
    const item = now.get(id);
    if (item !== undefined) transaction.put(id, item);
    else if (now.has(id)) transaction.remove(id, { only: true });
  }
  if (from < 0) return;
  transaction.rewind((record[from] as Recorded).id);
  const rest = record.slice(from).map(({ id, message }) => (now.has(id) ? now.get(id) : message));
  transaction.add(...rest.filter((item) => item !== undefined));
}
