import type { ModelMessage } from "@tanstack/ai";
import type { ChatMemory, HistoryMessage } from "@turnkeep/core";

export type Recorded = HistoryMessage<ModelMessage>;

/** Everything that was said, oldest first, also what was taken back since. What cannot be read fails where it is shown. */
export async function recordOf(memory: ChatMemory<ModelMessage>): Promise<Recorded[]> {
  const record: Recorded[] = [];
  for await (const { messages } of memory.historyPages({ limit: 1000 })) record.push(...messages);
  return record;
}
