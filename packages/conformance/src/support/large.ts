import type { MemoryUpdate } from "@turnkeep/core";
import type { Change, TestMemory } from "./memory.ts";

/**
 * Appends 150 messages, one of them of 300 KB, replaces 40 and moves 120 of the 200 and more that are live. All that it
 * writes carries `text`, so that of two such updates it can be told which one was made.
 */
export function largeUpdate(memory: TestMemory, text: string, over: Change = {}): MemoryUpdate {
  const live = memory.model.seqs("live");
  const filled = JSON.stringify(`${text}${"x".repeat(300_000)}`);
  return memory.update({
    append: Array.from({ length: 150 }, (_, index) => ({
      payload: index === 75 ? filled : `"${text} ${index}"`,
    })),
    replace: live
      .slice(110, 150)
      .map((seq) => ({ seq, payload: `"${text} ${seq}"`, meta: seq % 3 === 0 ? undefined : `"${text}"` })),
    move: live.slice(0, 120).map((seq) => ({ seq, to: seq % 3 === 0 ? "removed" : "evicted" })),
    head: `"${text}"`,
    ...over,
  });
}
