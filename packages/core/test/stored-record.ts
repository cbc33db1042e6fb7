import type { ChatMemoryStore, StoredMessage } from "../src/index.ts";

/** Changes what the store holds of memory "m"'s live messages at these places, past every check of the memory. */
export async function rewriteRecords(
  store: ChatMemoryStore,
  places: readonly number[],
  change: Partial<Pick<StoredMessage, "payload" | "meta">>,
): Promise<void> {
  const { version, nextSeq, messages } = await store.getMessages("m");
  const replace = places.map((place) => ({ ...(messages[place] as StoredMessage), ...change }));
  await store.updateMessages("m", {
    expected: version,
    version: "rewritten",
    nextSeq,
    append: [],
    replace,
    move: [],
  });
}
