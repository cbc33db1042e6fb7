import type { ChatMemoryStore, ListQuery } from "@turnkeep/core";

/** The ids on the first page of a list. */
export async function idsOf(store: ChatMemoryStore, query: ListQuery = {}): Promise<string[]> {
  return (await store.listMemories(query)).memories.map(({ memoryId }) => memoryId);
}

/** The ids on the first page of a list in the order `newest`. */
export function newestOf(store: ChatMemoryStore, query: Omit<ListQuery, "order"> = {}): Promise<string[]> {
  return idsOf(store, { ...query, order: "newest" });
}

/** The ids on all pages of a list. `meanwhile` happens behind each page, and gets its number, from 0. */
export async function pagedIdsOf(
  store: ChatMemoryStore,
  query: ListQuery,
  meanwhile?: (page: number) => Promise<unknown>,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let number = 0; number === 0 || cursor !== undefined; number++) {
    const page = await store.listMemories({ ...query, cursor });
    ids.push(...page.memories.map(({ memoryId }) => memoryId));
    cursor = page.cursor;
    await meanwhile?.(number);
  }
  return ids;
}
