import type { ChatMemoryStore, ListPage, ListQuery } from "@turnkeep/core";
import { expectEqual, expectThat, named } from "./expect.ts";

type Listed = ListPage["memories"][number];

/** More memories than any case gives an owner. */
const mostOfOwner = 2000;

/** The pages of a list. Fails where one holds more than was asked for, and where the listing goes on for ever. */
export async function* pagesOf(store: ChatMemoryStore, query: ListQuery): AsyncGenerator<ListPage, void> {
  const { owner, limit = 100 } = query;
  const cursors = new Set<string | undefined>();
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await named("listMemories", store.listMemories({ ...query, cursor }));
    const { length } = page.memories;
    expectThat(`a page holds ${limit} memories at most`, length <= limit, length);
    yield page;
    cursor = page.cursor;
    count += length;
    const goesOn = cursors.has(cursor) || (owner !== undefined && count > mostOfOwner);
    expectThat("a listing comes to an end", !goesOn, `the cursor ${cursor} after ${count} memories`);
    cursors.add(cursor);
  } while (cursor !== undefined);
}

/** What stands on all pages of a list. */
export async function wholeList(store: ChatMemoryStore, query: ListQuery): Promise<Listed[]> {
  const memories: Listed[] = [];
  for await (const page of pagesOf(store, query)) memories.push(...page.memories);
  return memories;
}

/** What an owner's list, or everybody's, says of a memory; `undefined`: it is not there. */
export async function listed(
  store: ChatMemoryStore,
  owner: string | undefined,
  memoryId: string,
): Promise<Listed | undefined> {
  for await (const { memories } of pagesOf(store, { owner, limit: 1000 })) {
    const found = memories.find((entry) => entry.memoryId === memoryId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Fails unless the pages of a list hold these memories, each once, and no other; a store without a list passes. */
export async function expectListed(
  what: string,
  store: ChatMemoryStore,
  query: ListQuery,
  wanted: readonly { readonly id: string }[],
): Promise<void> {
  if (store.capabilities.list) expectEqual(what, listedIds(await wholeList(store, query)), idsOf(wanted));
}

/** Fails if a memory that is not there stands in the list of its owner, who has no other, or in everybody's. */
export async function expectUnlisted(
  what: string,
  store: ChatMemoryStore,
  owner: string,
  { id }: { readonly id: string },
): Promise<void> {
  if (!store.capabilities.list) return;
  await expectListed(`the owner's list ${what}`, store, { owner }, []);
  if (store.capabilities.newest) await expectNewest(`the owner's newest ${what}`, store, { owner }, []);
  const entry = await listed(store, undefined, id);
  expectEqual(`what everybody's list says of the memory ${what}`, entry, undefined);
}

/** Fails unless the list in the order `newest` begins with these memories. */
export async function expectNewest(
  what: string,
  store: ChatMemoryStore,
  query: Omit<ListQuery, "order">,
  wanted: readonly { readonly id: string }[],
): Promise<void> {
  const found: string[] = [];
  for await (const { memories } of pagesOf(store, { ...query, order: "newest" })) {
    found.push(...memories.map(({ memoryId }) => memoryId));
    if (query.owner === undefined && found.length >= wanted.length) break;
  }
  const shown = query.owner === undefined ? found.slice(0, wanted.length) : found;
  expectEqual(
    what,
    shown,
    wanted.map(({ id }) => id),
  );
}

/** The ids that a list names, sorted. */
export function listedIds(memories: readonly Listed[]): string[] {
  return memories.map(({ memoryId }) => memoryId).sort();
}

/** The ids of memories, sorted. */
export function idsOf(memories: readonly { readonly id: string }[]): string[] {
  return memories.map(({ id }) => id).sort();
}
