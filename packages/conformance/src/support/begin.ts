import type { ChatMemoryStore } from "@turnkeep/core";
import type { ConformanceContext } from "../context.ts";
import type { TestMemory } from "./memory.ts";
import { inPortions } from "./races.ts";

/** Begins memories of one message each. */
export async function begin(
  context: ConformanceContext,
  count: number,
  owner: string | undefined,
  client?: ChatMemoryStore,
): Promise<TestMemory[]> {
  const memories = Array.from({ length: count }, () => context.memory(undefined, client));
  // At once: memories that begin in one millisecond are apart all the same.
  await inPortions(memories, (memory) => memory.commit({ append: 1, owner }));
  return memories;
}
