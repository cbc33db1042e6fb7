import { message, messages, update } from "@turnkeep/store-tests/updates";
import { type SqliteClient, sqliteStore } from "../src/index.ts";

// What stands here runs in another Node too.

/** All that a store over this client says of a memory that it begins, in tables that it makes. */
export async function toldBy(client: SqliteClient): Promise<unknown> {
  const store = sqliteStore({ client });
  await store.migrate();
  await store.migrate();
  const begin = update(null, 3, { version: "v1", owner: "ann", append: messages(1, 2) });
  const change = update("v1", 4, {
    version: "v2",
    append: [message(3)],
    replace: [message(1, '"new"')],
    move: [{ seq: 2, to: "evicted" }],
  });
  for (const one of [begin, begin, change, change]) await store.updateMessages("a", one);
  // Of the two, one is not live.
  const wrong = update("v2", 4, { replace: messages(1, 2) });
  const refusal: unknown = await store.updateMessages("a", wrong).catch(({ message: text }) => text);
  const { memories } = await store.listMemories({ owner: "ann" });
  const newest = await store.listMemories({ order: "newest" });
  return {
    memory: await store.getMessages("a"),
    refusal,
    history: await store.getHistory("a", {}),
    ids: (await store.getHistory("a", { ids: ["m2"] })).messages.map(({ seq }) => seq),
    times: memories.map(({ updatedAt }) => typeof updatedAt),
    newest: newest.memories.map(({ memoryId }) => memoryId),
    swept: await store.sweep(),
  };
}
