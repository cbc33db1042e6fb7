import { type ChatMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { messages, update } from "@turnkeep/store-tests";
import { expect } from "vitest";

/**
 * Writes until `count` more updates were acknowledged since `broken` resolved, one that failed after the other included.
 * Each takes the place of the one before it: two messages, the two before them evicted, its number as the head.
 * Fails if a read ever shows a part of one. Answers how many calls failed.
 */
export async function writeThrough(
  store: ChatMemoryStore,
  memoryId: string,
  count: number,
  broken: Promise<unknown>,
): Promise<number> {
  let failures = 0;
  let left = count;
  let isBroken = false;
  void broken.then(() => {
    isBroken = true;
  });
  while (left > 0) {
    try {
      const snapshot = await store.getMessages(memoryId);
      const done = Number(snapshot.head ?? "0");
      expect(snapshot.nextSeq).toBe(2 * done + 1);
      expect(snapshot.messages).toEqual(done === 0 ? [] : messages(2 * done - 1, 2 * done));
      const before = snapshot.messages.map(({ seq }) => ({ seq, to: "evicted" as const }));
      const next = update(snapshot.version, 2 * done + 3, {
        head: `${done + 1}`,
        append: messages(2 * done + 1, 2 * done + 2),
        move: before,
      });
      await store.updateMessages(memoryId, next);
      if (isBroken) left--;
    } catch (error) {
      // What was lost with the old master shows as another version.
      if (!isTurnkeepError(error, "STORE_UNAVAILABLE") && !isTurnkeepError(error, "VERSION_CONFLICT"))
        throw error;
      failures++;
    }
  }
  const { head, nextSeq } = await store.getMessages(memoryId);
  const seen: number[] = [];
  for (let after = 0; ; after = seen.at(-1) ?? 0) {
    const page = await store.getHistory(memoryId, { after, limit: 500 });
    seen.push(...page.messages.map(({ seq }) => seq));
    if (!page.hasMore) break;
  }
  expect(nextSeq).toBe(2 * Number(head) + 1);
  expect(seen).toEqual(Array.from({ length: nextSeq - 1 }, (_, index) => index + 1));
  return failures;
}
