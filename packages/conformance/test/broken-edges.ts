import type { ChatMemoryStore, ListPage, MemorySnapshot } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";
import { type Row, roundTrip } from "./reference-store.ts";

/** Payloads by a key of their own, in a place that all memories share. */
function payloadsUnder(
  key: (memoryId: string, message: { id: string; seq: number }) => string,
): NonNullable<BrokenStore["wrap"]> {
  const payloads = new Map<string, string>();
  return (base) => ({
    async updateMessages(id, update, options) {
      await base.updateMessages(id, update, options);
      for (const message of [...update.append, ...update.replace]) {
        payloads.set(key(id, message), message.payload);
      }
    },
    async getMessages(id, options): Promise<MemorySnapshot> {
      const snapshot = await base.getMessages(id, options);
      const kept = (message: Row | MemorySnapshot["messages"][number]) =>
        payloads.get(key(id, message)) ?? message.payload;
      return { ...snapshot, messages: snapshot.messages.map((m) => ({ ...m, payload: kept(m) })) };
    },
  });
}

/** Every page of a list, as a correct store answers it. */
async function everything(base: ChatMemoryStore, owner: string | undefined): Promise<ListPage["memories"]> {
  return (await base.listMemories({ owner, limit: 1000 })).memories;
}

/** Ids that were once given to a message that was removed. */
const spent = new Set<string>();
/** Memories that began again where one had expired. */
const begunAgain = new Set<string>();
/** Large updates under way. */
const staged = new Set<{ swept: boolean }>();

export const brokenEdges: readonly BrokenStore[] = [
  {
    fault: "deletes a thousand messages of a memory at most",
    caughtBy: ["basic", "a delete leaves nothing of a long memory"],
    wrap: (base, { memories }) => {
      const left = new Map<string, Row[]>();
      return {
        async deleteMessages(id, options) {
          left.set(id, memories.get(id)?.rows.slice(1000) ?? []);
          await base.deleteMessages(id, options);
        },
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          if (update.expected === null) memories.get(id)?.rows.push(...(left.get(id) ?? []));
        },
      };
    },
  },
  {
    fault: "folds upper and lower case of versions",
    caughtBy: ["versions", "versions that look alike are different versions"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const version = memories.get(id)?.version;
        const same = version !== undefined && version.toLowerCase() === update.expected?.toLowerCase();
        await base.updateMessages(
          id,
          same && version !== update.version ? { ...update, expected: version } : update,
          options,
        );
      },
    }),
  },
  {
    fault: "never gives the id of a removed message again",
    caughtBy: ["states", "the id of a removed message is free again"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const append = update.append.filter((message) => !spent.has(`${id} ${message.id}`));
        const rows = memories.get(id)?.rows ?? [];
        await base.updateMessages(id, { ...update, append }, options);
        for (const { seq, to } of update.move) {
          if (to === "removed") spent.add(`${id} ${rows.find((row) => row.seq === seq)?.id}`);
        }
      },
    }),
  },
  {
    fault: "looks up a hundred ids at most",
    caughtBy: ["history", "a thousand ids are all looked up"],
    wrap: (base) => ({
      getHistory: (id, query, options) =>
        base.getHistory(
          id,
          query.ids && query.ids.length <= 1000 ? { ...query, ids: query.ids.slice(0, 100) } : query,
          options,
        ),
    }),
  },
  {
    fault: "sorts a list by bytes and goes on by code units",
    caughtBy: ["list", "a page may end with any id"],
    wrap: (base) => ({
      async listMemories({ owner, cursor = "", limit = 100 }) {
        const found = (await everything(base, owner))
          .sort((a, b) => Buffer.compare(Buffer.from(a.memoryId), Buffer.from(b.memoryId)))
          .filter(({ memoryId }) => memoryId > cursor);
        const memories = found.slice(0, limit);
        const last = memories.at(-1);
        return found.length > limit && last ? { memories, cursor: last.memoryId } : { memories };
      },
    }),
  },
  {
    fault: "ends a list whose cursor's memory is gone",
    caughtBy: ["list", "a cursor stays good when the memory at the end of its page is deleted"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const id = query.cursor && Buffer.from(query.cursor, "base64url").toString();
        if (id && (await base.getMessages(id)).version === null) return { memories: [] };
        return base.listMemories(query, options);
      },
    }),
  },
  {
    fault: "takes the owner's memories from a page of all",
    caughtBy: ["list", "an owner's pages hold what stands between the memories of others"],
    wrap: (base) => ({
      async listMemories({ owner, ...query }, options) {
        const page = await base.listMemories(query, options);
        const memories = page.memories.filter((memory) => owner === undefined || memory.owner === owner);
        return memories.length === query.limit ? { ...page, memories } : { memories };
      },
    }),
  },
  {
    fault: "joins a memory's id and a message's by a colon",
    caughtBy: ["ids", "a memory's id and a message's id that join to one text are apart"],
    wrap: payloadsUnder((memoryId, { id }) => `${memoryId}:${id}`),
  },
  {
    fault: "joins a memory's id and a seq by nothing",
    caughtBy: ["ids", "a memory's id and a seq that join to one text are apart"],
    wrap: payloadsUnder((memoryId, { seq }) => `${memoryId}${seq}`),
  },
  {
    fault: "lists what begins with an owner and a slash",
    caughtBy: ["ids", "an owner and a memory's id that join to one text are apart"],
    wrap: (base) => ({
      async listMemories(query, options) {
        if (query.owner === undefined) return base.listMemories(query, options);
        const start = `${query.owner}/`;
        const keys = (await everything(base, undefined)).map((memory) => ({
          ...memory,
          key: `${memory.owner}/${memory.memoryId}`,
        }));
        const found = keys.filter(({ key }) => key.startsWith(start));
        return {
          memories: found.map(({ key, ...rest }) => ({ ...rest, memoryId: key.slice(start.length) })),
        };
      },
    }),
  },
  {
    fault: "sweeps by ids that it looked up before",
    caughtBy: ["ttl", "a sweep spares a memory that begins again meanwhile"],
    wrap: (_base, { memories, now }) => ({
      async sweep() {
        const expired = [...memories].filter(([, { expiresAt }]) => expiresAt <= now()).map(([id]) => id);
        await roundTrip();
        for (const id of expired) memories.delete(id);
        return { removed: expired.length };
      },
    }),
  },
  {
    fault: "takes a page of what has expired for the end of a list",
    caughtBy: ["ttl", "what has expired does not cut a list short"],
    wrap: (_base, { memories, now }) => ({
      async listMemories({ owner, cursor = "", limit = 100 }) {
        const found = [...memories].filter(([id, memory]) => id > cursor && memory.owner === owner).sort();
        const page = found.slice(0, limit).filter(([, { expiresAt }]) => expiresAt > now());
        const last = page.at(-1)?.[0];
        const listed = page.map(([memoryId, { updatedAt }]) => ({ memoryId, owner, updatedAt }));
        return found.length > limit && last ? { memories: listed, cursor: last } : { memories: listed };
      },
    }),
  },
  {
    fault: "lists each life of a memory",
    caughtBy: ["ttl", "what has expired does not cut a list short"],
    wrap: (base, { memories, now }) => ({
      async updateMessages(id, update, options) {
        const expired = (memories.get(id)?.expiresAt ?? Number.POSITIVE_INFINITY) <= now();
        await base.updateMessages(id, update, options);
        if (expired) begunAgain.add(id);
      },
      async listMemories(query, options) {
        const { memories, ...rest } = await base.listMemories(query, options);
        const twice = memories.flatMap((memory) =>
          begunAgain.has(memory.memoryId) ? [memory, { ...memory }] : [memory],
        );
        return { ...rest, memories: twice };
      },
    }),
  },
  {
    fault: "keeps the id of a read in its client until the answer comes",
    caughtBy: ["isolation", "calls on many memories at once do not mix"],
    wrap: (base) => {
      let wanted = "";
      return {
        async getMessages(id, options) {
          wanted = id;
          await roundTrip();
          return base.getMessages(wanted, options);
        },
      };
    },
  },
  {
    fault: "reads once for all who ask at the same time, under the first one's signal",
    caughtBy: ["errors", "a signal that fires during a read ends it or not"],
    wrap: (base) => {
      const reading = new Map<string, Promise<MemorySnapshot>>();
      return {
        async getMessages(id, options) {
          const running = reading.get(id) ?? base.getMessages(id, options);
          reading.set(id, running);
          return structuredClone(await running.finally(() => reading.delete(id)));
        },
      };
    },
  },
  {
    fault: "lets nextSeq go back",
    caughtBy: ["errors", "an update that contradicts what is stored is refused"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        const nextSeq = Math.max(memory?.nextSeq ?? 1, update.nextSeq);
        await base.updateMessages(id, { ...update, nextSeq }, options);
        Object.assign(memories.get(id) ?? {}, { nextSeq: update.nextSeq });
      },
    }),
  },
  {
    fault: "begins a memory without the moves of what is not there",
    caughtBy: ["errors", "a beginning that names what is not there is refused"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const there = new Set(update.append.map(({ seq }) => seq));
        const move = update.expected === null ? update.move.filter(({ seq }) => there.has(seq)) : update.move;
        await base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "sweeps away memories without live messages",
    caughtBy: ["lifecycle", "sweep answers a count and harms nothing that is there"],
    wrap: (base, { memories }) => ({
      async sweep(options) {
        for (const [id, { rows }] of memories) {
          if (!rows.some(({ state }) => state === "live")) memories.delete(id);
        }
        return base.sweep(options);
      },
    }),
  },
  {
    fault: "sweeps away what a large update has staged",
    caughtBy: ["lifecycle", "a sweep leaves a large update alone that is under way"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const stage = { swept: false };
        staged.add(stage);
        await roundTrip();
        await roundTrip();
        staged.delete(stage);
        const append = update.append.filter(({ payload }) => payload.length < 100_000 || !stage.swept);
        await base.updateMessages(id, { ...update, append }, options);
      },
      async sweep(options) {
        for (const stage of staged) stage.swept = true;
        return base.sweep(options);
      },
    }),
  },
];
