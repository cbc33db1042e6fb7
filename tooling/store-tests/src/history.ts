import type { ChatMemory, ModelMessage } from "@turnkeep/core";

/** The ids of everything that was said. */
export async function historyOf(memory: ChatMemory<ModelMessage>): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of memory.historyPages({ limit: 1_000 }))
    ids.push(...page.messages.map(({ id }) => id));
  return ids;
}
