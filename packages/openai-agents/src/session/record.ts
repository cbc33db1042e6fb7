import type { AgentInputItem } from "@openai/agents-core";
import type { ChatMemory, HistoryMessage } from "@turnkeep/core";
import { runnersForm } from "./items.ts";

export type Recorded = HistoryMessage<AgentInputItem>;

/** Everything that was said and not taken back, or the newest of it, as the runner has it; oldest first. Errors: `CORRUPT_RECORD`. */
export async function recordOf(memory: ChatMemory<AgentInputItem>, newest?: number): Promise<Recorded[]> {
  const record = await storedOf(memory, newest);
  return record.map((said) => ({ ...said, message: runnersForm(said.message) }));
}

/** The same as it is stored. */
export async function storedOf(
  memory: ChatMemory<AgentInputItem>,
  newest: number = Number.POSITIVE_INFINITY,
): Promise<Recorded[]> {
  const record: Recorded[] = [];
  if (!(newest > 0)) return record;
  const query = {
    states: ["live", "evicted"],
    order: "descending",
    limit: Math.min(1000, Math.ceil(newest)),
  } as const;
  for await (const page of memory.historyPages(query)) {
    for (const error of page.errors) throw error;
    record.push(...page.messages);
    if (record.length >= newest) break;
  }
  return record.slice(0, newest).reverse();
}
