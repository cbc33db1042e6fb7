import type { ChatMemoryStore, ListPage } from "@turnkeep/core";
import type { ConformanceContext } from "./context.ts";
import { expectEqual, expectThat, named } from "./expect.ts";

/** What an owner's list, or everybody's, says of a memory; `undefined`: it is not there. */
export async function listed(
  store: ChatMemoryStore,
  owner: string | undefined,
  memoryId: string,
): Promise<ListPage["memories"][number] | undefined> {
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const query = { owner, limit: 1000, cursor };
    const page: ListPage = await named("listMemories", store.listMemories(query));
    const found = page.memories.find((entry) => entry.memoryId === memoryId);
    if (found !== undefined) return found;
    cursor = page.cursor;
    expectThat("a listing comes to an end", !cursors.has(cursor ?? ""), `the cursor ${cursor} again`);
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return undefined;
}

/** Fails if a memory that is not there stands in the list of its owner, or in everybody's. */
export async function expectUnlisted(
  what: string,
  context: ConformanceContext,
  { memoryId, owner, client = context.store }: { memoryId: string; owner: string; client?: ChatMemoryStore },
): Promise<void> {
  if (!context.capabilities.list) return;
  const { memories } = await client.listMemories({ owner });
  expectEqual(`the owner's list ${what}`, memories, []);
  const entry = await listed(client, undefined, memoryId);
  expectEqual(`what everybody's list says of the memory ${what}`, entry, undefined);
}
