import type { ModelMessage } from "@tanstack/ai";
import type { ChatMemory, HistoryMessage } from "@turnkeep/core";

export type Recorded = HistoryMessage<ModelMessage>;

/** Everything that was said, oldest first, also what was taken back since. Errors: `CORRUPT_RECORD`. */
export async function recordOf(memory: ChatMemory<ModelMessage>): Promise<Recorded[]> {
  const record: Recorded[] = [];
  for await (const page of memory.historyPages({ limit: 1000 })) {
    for (const error of page.errors) throw error;
    record.push(...page.messages);
  }
  return record;
}
