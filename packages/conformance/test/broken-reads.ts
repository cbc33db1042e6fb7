import type { ChatMemoryStore, HistoryPage } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";
import { roundTrip } from "./reference-store.ts";

/** A store that changes each snapshot before it answers it. */
function seeing(
  change: (snapshot: Awaited<ReturnType<ChatMemoryStore["getMessages"]>>) => void,
): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    async getMessages(id, options) {
      const snapshot = structuredClone(await base.getMessages(id, options));
      change(snapshot);
      return snapshot;
    },
  });
}

/** A store that changes each page of a history before it answers it. */
function paging(change: (page: HistoryPage) => HistoryPage): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    getHistory: async (id, query, options) => change(await base.getHistory(id, query, options)),
  });
}

export const brokenReads: readonly BrokenStore[] = [
  {
    fault: "answers an unknown id with an error",
    caughtBy: ["basic", "an unknown id is an empty snapshot"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        if (snapshot.version === null) throw new Error("no such memory");
        return snapshot;
      },
    }),
  },
  {
    fault: "orders by time",
    caughtBy: ["order", "messages come by seq even if their times run backwards"],
    wrap: seeing(({ messages }) => messages.sort((a, b) => a.createdAt - b.createdAt)),
  },
  {
    fault: "orders by time, then by id",
    caughtBy: ["order", "messages of one millisecond come by seq, not by id"],
    wrap: seeing(({ messages }) =>
      messages.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    ),
  },
  {
    fault: "orders seqs as text",
    caughtBy: ["order", "seq counts as a number, not as text"],
    wrap: seeing(({ messages }) => messages.sort((a, b) => (String(a.seq) < String(b.seq) ? -1 : 1))),
  },
  {
    fault: "keeps seqs in 32 bits",
    caughtBy: ["order", "seq may be any safe integer"],
    wrap: seeing(({ messages }) => {
      for (const message of messages) message.seq = message.seq | 0;
    }),
  },
  {
    fault: "puts a message that comes back behind the others",
    caughtBy: ["order", "a message that comes back to live takes its old place"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        const back = new Set(update.move.filter(({ to }) => to === "live").map(({ seq }) => seq));
        memory?.rows.sort((a, b) => Number(back.has(a.seq)) - Number(back.has(b.seq)));
      },
    }),
  },
  {
    fault: "puts a replaced message behind the others",
    caughtBy: ["order", "a replaced message keeps its place"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const replaced = new Set(update.replace.map(({ seq }) => seq));
        memories.get(id)?.rows.sort((a, b) => Number(replaced.has(a.seq)) - Number(replaced.has(b.seq)));
      },
    }),
  },
  {
    fault: "tears a read in two",
    caughtBy: ["atomicity", "a reader during many updates never sees half of one"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const head = await base.getMessages(id, options);
        await roundTrip();
        const { messages } = await base.getMessages(id, options);
        return { ...head, messages };
      },
    }),
  },
  {
    fault: "answers superseded messages as live",
    caughtBy: ["states", "what is evicted or superseded leaves memory"],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        const rows = memories.get(id)?.rows.filter(({ state }) => state !== "evicted") ?? [];
        return { ...snapshot, messages: rows.map(({ state: _, ...message }) => message) };
      },
    }),
  },
  {
    fault: "tells every message that left as evicted",
    caughtBy: ["states", "what leaves memory is kept with its state"],
    wrap: paging((page) => {
      const messages = page.messages.map((message) =>
        message.state === "superseded" ? { ...message, state: "evicted" as const } : message,
      );
      return { ...page, messages };
    }),
  },
  {
    fault: "forgets the moves",
    caughtBy: ["states", "what is evicted or superseded leaves memory"],
    wrap: (base) => ({
      updateMessages: (id, update, options) => base.updateMessages(id, { ...update, move: [] }, options),
    }),
  },
  {
    fault: "forgets a move of a message that was just appended",
    caughtBy: ["states", "a message may be appended and moved in one update"],
    wrap: (base) => ({
      updateMessages(id, update, options) {
        const move = update.move.filter(({ seq }) => update.append.every((message) => message.seq !== seq));
        return base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "forgets the new payload of a message that leaves in the same update",
    caughtBy: ["states", "a message may be replaced and moved in one update"],
    wrap: (base) => ({
      updateMessages(id, update, options) {
        const replace = update.replace.filter(({ seq }) => update.move.every((move) => move.seq !== seq));
        return base.updateMessages(id, { ...update, replace }, options);
      },
    }),
  },
  {
    fault: "evicts what should be removed",
    caughtBy: ["states", "what is removed is gone from memory and history"],
    wrap: (base) => ({
      updateMessages(id, update, options) {
        const move = update.move.map(({ seq, to }) => ({
          seq,
          to: to === "removed" ? ("evicted" as const) : to,
        }));
        return base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "forgets a replacement of a message that came back",
    caughtBy: ["states", "a message that came back can be replaced"],
    wrap: (base) => {
      const back = new Set<string>();
      return {
        async updateMessages(id, update, options) {
          const replace = update.replace.filter(({ seq }) => !back.has(`${seq} ${id}`));
          await base.updateMessages(id, { ...update, replace }, options);
          for (const { seq, to } of update.move) if (to === "live") back.add(`${seq} ${id}`);
        },
      };
    },
  },
  {
    fault: "moves 100 messages of an update at most",
    caughtBy: ["states", "several hundred messages may move in one update"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, { ...update, move: update.move.slice(0, 100) }, options),
    }),
  },
  {
    fault: "takes a memory of which everything left for absent",
    caughtBy: ["states", "a memory of which everything left is still there"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return snapshot.messages.length === 0 ? { version: null, nextSeq: 1, messages: [] } : snapshot;
      },
    }),
  },
  {
    fault: "never lets a message come back",
    caughtBy: ["states", "a message may leave, come back and change its state again"],
    wrap: (base) => ({
      updateMessages(id, update, options) {
        const move = update.move.filter(({ to }) => to !== "live");
        return base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "keeps what left without declaring a history",
    caughtBy: ["states", "what leaves a store without history is gone"],
    capabilities: { history: false },
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const left = memories.get(id)?.rows ?? [];
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory === undefined) return;
        const gone = left.filter(({ seq }) => memory.rows.every((row) => row.seq !== seq));
        memory.rows = [...gone.map((row) => ({ ...row, state: "evicted" as const })), ...memory.rows];
      },
    }),
  },
];
