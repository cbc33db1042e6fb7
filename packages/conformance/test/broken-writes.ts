import { type BrokenStore, changing } from "./broken-store.ts";
import { applied, roundTrip, type StoredMemory } from "./reference-store.ts";

/** Updates nothing names, for a wrapper that writes more often than it was asked to. */
let extraVersions = 0;

export const brokenWrites: readonly BrokenStore[] = [
  {
    fault: "drops the last message of an append",
    caughtBy: ["basic", "an append keeps every message as it was given"],
    wrap: changing((update) => {
      const append = update.append.length > 1 ? update.append.slice(0, -1) : update.append;
      const kept = new Set(append.map(({ seq }) => seq));
      const lost = update.append.filter(({ seq }) => !kept.has(seq)).map(({ seq }) => seq);
      return { ...update, append, move: update.move.filter(({ seq }) => !lost.includes(seq)) };
    }),
  },
  {
    fault: "keeps seconds of a time",
    caughtBy: ["basic", "createdAt comes back to the millisecond"],
    wrap: changing((update) => {
      const append = update.append.map((m) => ({ ...m, createdAt: Math.floor(m.createdAt / 1000) * 1000 }));
      return { ...update, append };
    }),
  },
  {
    fault: "keeps the time of what it replaces",
    caughtBy: ["basic", "a replaced message is as given, in its old place"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        const replace = update.replace.map((message) => {
          const { createdAt = message.createdAt } = rows.find(({ seq }) => seq === message.seq) ?? {};
          return { ...message, createdAt };
        });
        await base.updateMessages(id, { ...update, replace }, options);
      },
    }),
  },
  {
    fault: "does not begin a memory without messages",
    caughtBy: ["basic", "a memory may begin without messages"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (update.expected === null && update.append.length === 0) return;
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "makes versions of its own",
    caughtBy: ["basic", "each update leaves its version in place"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, version: snapshot.version && `${snapshot.version}!` };
      },
    }),
  },
  {
    fault: "forgets the head when an update brings none",
    caughtBy: ["basic", "the head stays until an update brings another"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && update.head === undefined) delete memory.head;
      },
    }),
  },
  {
    fault: "takes a head that is an empty text for none",
    caughtBy: ["basic", "the head stays until an update brings another"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, { ...update, head: update.head || undefined }, options),
    }),
  },
  {
    fault: "forgets the owner",
    caughtBy: ["basic", "the owner stays until an update names another"],
    wrap: changing(({ owner: _, ...update }) => update),
  },
  {
    fault: "keeps the old meta of a message that is replaced without one",
    caughtBy: ["basic", "a replaced message is as given, in its old place"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        const replace = update.replace.map((message) => {
          const meta = message.meta ?? rows.find(({ seq }) => seq === message.seq)?.meta;
          return meta === undefined ? message : { ...message, meta };
        });
        await base.updateMessages(id, { ...update, replace }, options);
      },
    }),
  },
  {
    fault: "resets nextSeq to one after the last live message",
    caughtBy: ["basic", "nextSeq is the one that the last update gave"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, nextSeq: (snapshot.messages.at(-1)?.seq ?? 0) + 1 };
      },
    }),
  },
  {
    fault: "keeps the history of a deleted memory",
    caughtBy: ["basic", "a delete leaves nothing of the memory"],
    wrap: (base, { memories }) => {
      const left = new Map<string, StoredMemory>();
      return {
        async deleteMessages(id, options) {
          const memory = memories.get(id);
          await base.deleteMessages(id, options);
          if (memory !== undefined) left.set(id, memory);
        },
        async getHistory(id, query, options) {
          const page = await base.getHistory(id, query, options);
          const { state: _, ...old } = left.get(id)?.rows[0] ?? { state: "live" };
          return "id" in old ? { ...page, messages: [{ ...old, state: "live" }, ...page.messages] } : page;
        },
      };
    },
  },
  {
    fault: "fails to delete what is not there",
    caughtBy: ["basic", "a delete of what is not there succeeds"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        if (!memories.has(id)) throw new Error("no such memory");
        await base.deleteMessages(id, options);
      },
    }),
  },
  {
    fault: "reads from a cache of its own",
    caughtBy: ["basic", "one client sees at once what another wrote"],
    wrap: (base) => {
      const cache = new Map<string, Awaited<ReturnType<typeof base.getMessages>>>();
      return {
        async getMessages(id, options) {
          const snapshot = cache.get(id) ?? (await base.getMessages(id, options));
          cache.set(id, snapshot);
          return structuredClone(snapshot);
        },
        async updateMessages(id, update, options) {
          cache.delete(id);
          await base.updateMessages(id, update, options);
        },
        async deleteMessages(id, options) {
          cache.delete(id);
          await base.deleteMessages(id, options);
        },
      };
    },
  },
  {
    fault: "applies an update in two steps",
    caughtBy: ["atomicity", "a reader during many updates never sees half of one"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (update.append.length === 0 || update.move.length === 0) {
          return base.updateMessages(id, update, options);
        }
        const { version } = await base.getMessages(id);
        if (version === update.version) return;
        const half = `half-${extraVersions++}`;
        await base.updateMessages(id, { ...update, version: half, replace: [], move: [] }, options);
        await base.updateMessages(id, { ...update, expected: half, append: [] }, options);
      },
    }),
  },
  {
    fault: "applies half of an update, then fails",
    caughtBy: ["atomicity", "an update with one bad message writes none of the good ones"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const bad = update.append.findIndex(({ id: messageId }) => messageId === "");
        if (bad > 0) {
          const half = { ...update, append: update.append.slice(0, bad), version: `half-${extraVersions++}` };
          await base.updateMessages(id, half, options);
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "writes a large update in portions",
    caughtBy: ["atomicity", "a large update appears at once"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { version } = await base.getMessages(id);
        if (update.append.length < 400 || version === update.version) {
          return base.updateMessages(id, update, options);
        }
        const first = { ...update, append: update.append.slice(0, 200), version: `half-${extraVersions++}` };
        await base.updateMessages(id, { ...first, replace: [], move: [] }, options);
        const rest = { ...update, append: update.append.slice(200), expected: first.version };
        await base.updateMessages(id, rest, options);
      },
    }),
  },
  {
    fault: "writes a part of an update though it is refused",
    caughtBy: ["atomicity", "an update that is refused changes nothing"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        if (memory !== undefined && update.head !== undefined) memory.head = update.head;
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "writes over a memory that was deleted meanwhile",
    caughtBy: ["atomicity", "a delete that races an append leaves nothing behind"],
    wrap: (base, { memories, now, tick }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id);
        if (before === undefined || before.version !== update.expected) {
          return base.updateMessages(id, update, options);
        }
        await roundTrip();
        await roundTrip();
        memories.set(id, {
          ...applied(before, update),
          updatedAt: now(),
          active: tick(),
          expiresAt: before.expiresAt,
        });
      },
    }),
  },
  {
    fault: "begins a memory in two steps",
    caughtBy: ["atomicity", "a delete that races a beginning leaves all of it or nothing"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (update.expected !== null || memories.has(id)) return base.updateMessages(id, update, options);
        const empty = { ...update, append: [], version: `half-${extraVersions++}` };
        await base.updateMessages(id, empty, options);
        await base.updateMessages(id, { ...update, expected: empty.version }, options);
      },
    }),
  },
  {
    fault: "counts nextSeq itself when an update moves something",
    caughtBy: ["atomicity", "an update that appends, replaces, moves and sets the head is applied whole"],
    wrap: changing((update) => {
      const last = update.append.at(-1)?.seq;
      return update.move.length > 0 && last !== undefined ? { ...update, nextSeq: last + 1 } : update;
    }),
  },
];
