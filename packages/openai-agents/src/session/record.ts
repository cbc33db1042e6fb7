import type { AgentInputItem } from "@openai/agents-core";
import type { ChatMemory, HistoryMessage } from "@turnkeep/core";
import { runnersForm } from "./items.ts";

export type Recorded = HistoryMessage<AgentInputItem>;

/** Everything that was said and not taken back, or the newest of it, as the runner has it; oldest first. Errors: `CORRUPT_RECORD`. */
export async function recordOf(
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
    for (const said of page.messages) record.push({ ...said, message: runnersForm(said.message) });
    if (record.length >= newest) break;
  }
  return record.slice(0, newest).reverse();
}
