import type { ChatMemoryStore, HistoryPage, MemorySnapshot } from "@turnkeep/core";
import { conflictError, isTurnkeepError, TurnkeepError, throwIfAborted } from "@turnkeep/core/store-kit";
import { type BrokenStore, beside } from "./broken-store.ts";
import { roundTrip, type StoredMemory } from "./reference-store.ts";

const besideAssign = "a delete beside a change of the owner leaves no entry in either owner's list";

/** Entries of owners' lists that outlive their memories: owners by memory id. */
const leftEntries = beside(() => new Map<string, string>());

/** The owners' lists with the entries that were left. */
function listingLeft(
  base: ChatMemoryStore,
  memories: Map<string, StoredMemory>,
): Pick<ChatMemoryStore, "listMemories"> {
  return {
    async listMemories(query, options) {
      const page = await base.listMemories(query, options);
      const left = [...leftEntries(memories)].filter(
        ([id, owner]) => owner === query.owner && !memories.has(id),
      );
      return {
        ...page,
        memories: [...page.memories, ...left.map(([memoryId]) => ({ memoryId, updatedAt: 0 }))],
      };
    },
  };
}

/** The version with which each life of a memory began, by its id. */
const firstVersions = new Map<string, string[]>();

/** Deletes, signals, and what errors hold. */
export const brokenDeletes: readonly BrokenStore[] = [
  {
    fault: "deletes whatever is there, whichever version was asked for",
    caughtBy: ["versions", "a delete of one version deletes that one, and nothing once it is gone"],
    wrap: (base) => ({
      deleteMessages: (id, options) => base.deleteMessages(id, { signal: options?.signal }),
    }),
  },
  {
    fault: "takes an empty version for none",
    caughtBy: ["versions", "a delete of what is no version deletes nothing"],
    wrap: (base) => ({
      deleteMessages: (id, { signal, expected } = {}) =>
        base.deleteMessages(id, expected ? { signal, expected } : { signal }),
    }),
  },
  {
    fault: "takes a memory that is gone for another version",
    caughtBy: ["versions", "a delete of one version deletes that one, and nothing once it is gone"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        if (options?.expected !== undefined && !memories.has(id)) throw conflictError(id, options.expected);
        await base.deleteMessages(id, options);
      },
    }),
  },
  {
    fault: "keeps the versions of earlier lives for a delete",
    caughtBy: ["versions", "a delete of a version of an earlier life leaves the later one"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        if (update.expected === null)
          firstVersions.set(id, [...(firstVersions.get(id) ?? []), update.version]);
      },
      async deleteMessages(id, options) {
        const { signal, expected = "" } = options ?? {};
        const isKnown = firstVersions.get(id)?.includes(expected) === true;
        const { version } = await base.getMessages(id);
        await base.deleteMessages(id, isKnown ? { signal, expected: version ?? expected } : options);
      },
    }),
  },
  {
    fault: "looks at the version, then deletes what is there by then",
    caughtBy: ["atomicity", "of a delete of one version and a write that race, one takes place"],
    wrap: (base) => ({
      async deleteMessages(id, options) {
        const { signal, expected } = options ?? {};
        const { version } = await base.getMessages(id, { signal });
        if (expected !== undefined && version !== null && version !== expected)
          throw conflictError(id, expected);
        await base.deleteMessages(id, { signal });
      },
    }),
  },
  {
    fault: "deletes a memory, and its entry in the list of the owner that it had at first",
    caughtBy: ["list", besideAssign],
    wrap: (base, { memories }) => ({
      ...listingLeft(base, memories),
      async deleteMessages(id, options) {
        const { owner: first } = memories.get(id) ?? {};
        await roundTrip();
        await roundTrip();
        const { owner } = memories.get(id) ?? {};
        await base.deleteMessages(id, options);
        if (owner !== undefined && owner !== first) leftEntries(memories).set(id, owner);
      },
    }),
  },
  {
    fault: "enters a memory in its new owner's list first, and leaves it there if a delete comes between",
    caughtBy: ["list", besideAssign],
    wrap: (base, { memories }) => ({
      ...listingLeft(base, memories),
      async updateMessages(id, update, options) {
        const { owner } = update;
        const isCurrent = memories.get(id)?.version === update.expected;
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          if (isCurrent && owner !== undefined) leftEntries(memories).set(id, owner);
          throw error;
        }
      },
    }),
  },
  {
    fault: "deletes the head, then the messages that are there by then",
    caughtBy: ["atomicity", "a delete that races the next beginning leaves that beginning whole"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        const was = memories.has(id);
        await base.deleteMessages(id, options);
        if (!was) return;
        await roundTrip();
        memories.get(id)?.rows.splice(0);
      },
    }),
  },
  {
    fault: "reads the head, then the messages, and takes a delete in between for none",
    caughtBy: ["atomicity", "a reader while a memory is deleted and begins again sees one life or none"],
    wrap: (base) => ({
      async getMessages(id, options): Promise<MemorySnapshot> {
        while (true) {
          const head = await base.getMessages(id, options);
          const { version, messages } = await base.getMessages(id, options);
          if (version === null || version === head.version) return { ...head, messages };
        }
      },
    }),
  },
  {
    fault: "leaves half of a delete when a signal fires",
    caughtBy: ["errors", "a signal that fires during a delete leaves the memory whole or absent"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        if (options?.signal !== undefined) {
          await roundTrip();
          memories.get(id)?.rows.splice(0);
          await roundTrip();
        }
        await base.deleteMessages(id, options);
      },
    }),
  },
  {
    fault: "sends an update once for all who ask at the same time, under the first one's signal",
    caughtBy: [
      "errors",
      "an update sent twice at once, the first time under a signal that fires, is applied once",
    ],
    wrap: (base) => {
      const sending = new Map<string, Promise<void>>();
      return {
        async updateMessages(id, update, options) {
          const running = sending.get(update.version) ?? base.updateMessages(id, update, options);
          sending.set(update.version, running);
          await running.finally(() => sending.delete(update.version));
        },
      };
    },
  },
  {
    fault: "knows a signal's own reason only",
    caughtBy: ["errors", "a signal that has fired ends every call"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const { reason } = options?.signal ?? {};
        if (reason !== undefined && reason.name !== "AbortError") throw reason;
        throwIfAborted(options?.signal);
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "hangs the update on its errors",
    caughtBy: ["errors", "no error tells a message's content"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((error: Error) => {
          throw Object.assign(error, { update });
        });
      },
    }),
  },
  {
    fault: "quotes a record that is corrupt",
    caughtBy: ["errors", "a corrupt record is named, and does not hide the others"],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        const memory: unknown = memories.get(id);
        if (typeof memory !== "string") return base.getMessages(id, options);
        throw new TurnkeepError("CORRUPT_RECORD", `Not a record: ${memory}`, { details: { memoryId: id } });
      },
    }),
  },
  {
    fault: "tells what it sent when a write fails",
    caughtBy: ["atomicity", "a process that dies between two steps of an update leaves all of it or none"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((cause: unknown) => {
          if (!isTurnkeepError(cause, "STORE_UNAVAILABLE")) throw cause;
          throw new TurnkeepError("STORE_UNAVAILABLE", `Not written: ${JSON.stringify(update)}`, { cause });
        });
      },
    }),
  },
  {
    fault: "writes the history after the memory, where an earlier write may overtake a later one",
    caughtBy: ["versions", "fifty writers that repeat after a conflict all land once"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const page = await base.getHistory(id, { limit: 1000 });
        const { length } = page.messages;
        // Every other write comes after the one that follows it.
        while (length % 2 === 0 && (histories.get(id)?.messages.length ?? 0) <= length) await roundTrip();
        histories.set(id, page);
      },
      async getHistory(id, query, options) {
        return structuredClone(histories.get(id) ?? (await base.getHistory(id, query, options)));
      },
    }),
  },
];

/** What all clients find as history, by memory id. */
const histories = new Map<string, HistoryPage>();
