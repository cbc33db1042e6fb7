import type { ListPage } from "@turnkeep/core";
import { storeError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";

const ownersWithMeaning = "an owner with a meaning of its own is a plain owner";

/** A store that cannot write where `clash` holds. */
function clashing(
  clash: (id: string, owner: string | undefined, others: readonly string[]) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      if (clash(id, update.owner, [...memories.keys()])) {
        throw storeError("broken", new TypeError("a key holds another kind of value"));
      }
      await base.updateMessages(id, update, options);
    },
  });
}

/** Owners' lists of one database, by owner. */
const ownersLists = new Set<string>();

/** What a database's keys are made of. */
export const brokenKeys: readonly BrokenStore[] = [
  {
    fault: "keeps owners' lists in a plain object",
    caughtBy: ["ids", ownersWithMeaning],
    wrap: (base) => {
      const lists: Record<string, string[]> = {};
      return {
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          if (update.owner === undefined) return;
          lists[update.owner] ??= [];
          lists[update.owner]?.push?.(id);
        },
        async listMemories(query, options): Promise<ListPage> {
          const page = await base.listMemories(query, options);
          const listed = lists[query.owner ?? ""];
          const memories = page.memories.filter(({ memoryId }) => listed?.includes?.(memoryId));
          return query.owner === undefined ? page : { ...page, memories };
        },
      };
    },
  },
  {
    fault: "lists nobody's memories under the owner undefined",
    caughtBy: ["ids", ownersWithMeaning],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories({ ...query, owner: undefined }, options);
        if (query.owner === undefined) return page;
        const memories = page.memories.filter(({ owner }) => `${owner}` === query.owner);
        return { ...page, memories };
      },
    }),
  },
  {
    fault: "joins an owner and a memory's id to a key of 1,024 bytes at most",
    caughtBy: ["ids", "the longest names of a memory, its owner, a message and a version go together"],
    wrap: clashing((id, owner) => owner !== undefined && Buffer.byteLength(`${owner}#${id}`) > 1024),
  },
  {
    fault: "keeps messages under a memory's id and a word",
    caughtBy: ["ids", "a memory's id that another one's key may be is apart from it"],
    wrap: clashing((id, _, others) => others.some((other) => id === `${other}:messages`)),
  },
  {
    fault: "keeps owners' lists under the owners' names, beside the memories",
    caughtBy: ["ids", "a memory, its owner, its messages and its version may have one name"],
    wrap: clashing((id, owner) => {
      if (owner !== undefined) ownersLists.add(owner);
      return ownersLists.has(id);
    }),
  },
];
