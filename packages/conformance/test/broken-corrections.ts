import type { MemoryUpdate } from "@turnkeep/core";
import { type BrokenStore, beside, changing } from "./broken-store.ts";
import type { Row } from "./reference-store.ts";

type Replaced = MemoryUpdate["replace"][number];

const inHistory = "an evicted message is replaced in history, and memory stays as it is";
const contradicts = "an update that contradicts what is stored is refused";

function isCorrected({ state }: Replaced): boolean {
  return state === "evicted";
}

/** Keeps to the replacements of what has left of which this is true, and to all others. */
function onlyCorrected(
  keeps: (message: Replaced, update: MemoryUpdate, at: number) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return changing((update) => ({
    ...update,
    replace: update.replace.filter((message, at) => !isCorrected(message) || keeps(message, update, at)),
  }));
}

/** Takes a message that is said to be evicted, and is in this state, for what it is. */
function taking(state: Row["state"]): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const rows = memories.get(id)?.rows ?? [];
      const isTaken = (message: Replaced): boolean =>
        isCorrected(message) && rows.some((row) => row.id === message.id && row.state === state);
      const taken = update.replace.filter(isTaken);
      await base.updateMessages(
        id,
        { ...update, replace: update.replace.filter((message) => !isTaken(message)) },
        options,
      );
      for (const { state: _, ...message } of taken)
        for (const row of memories.get(id)?.rows ?? [])
          if (row.id === message.id) Object.assign(row, message);
    },
  });
}

const before = beside(() => new Map<string, string>());

/** Replacements of what has left memory. */
export const brokenCorrections: readonly BrokenStore[] = [
  {
    fault: "replaces nothing that has left memory",
    caughtBy: ["states", inHistory],
    wrap: onlyCorrected(() => false),
  },
  {
    fault: "brings back to memory what it replaces in history",
    caughtBy: ["states", inHistory],
    wrap: changing((update) => ({
      ...update,
      move: [
        ...update.move,
        ...update.replace.filter(isCorrected).map(({ seq }) => ({ seq, to: "live" as const })),
      ],
    })),
  },
  {
    fault: "keeps the old meta of what it replaces in history",
    caughtBy: ["states", inHistory],
    wrap: changing((update, memory) => ({
      ...update,
      replace: update.replace.map((message) => {
        const meta = memory?.rows.find(({ seq }) => seq === message.seq)?.meta;
        return isCorrected(message) && meta !== undefined ? { ...message, meta } : message;
      }),
    })),
  },
  {
    fault: "finds by its id what stood in history before it was replaced",
    caughtBy: ["states", inHistory],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        for (const { seq, state } of update.replace) {
          const row = rows.find((one) => one.seq === seq);
          if (state !== undefined && row !== undefined) before(memories).set(`${seq} ${id}`, row.payload);
        }
        await base.updateMessages(id, update, options);
      },
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        if (query.ids === undefined) return page;
        const messages = page.messages.map((message) => {
          const payload = before(memories).get(`${message.seq} ${id}`) ?? message.payload;
          return { ...message, payload };
        });
        return { ...page, messages };
      },
    }),
  },
  {
    fault: "forgets what is replaced in history where something live is replaced with it",
    caughtBy: ["states", "evicted messages are replaced beside live ones, in one update"],
    wrap: onlyCorrected((_, { replace }) => replace.every(isCorrected)),
  },
  {
    fault: "keeps what has left in as much room as it took",
    caughtBy: ["states", "an evicted message may become large, and small again"],
    wrap: onlyCorrected(({ payload }) => payload.length < 100_000),
  },
  {
    fault: "moves the row of which it has written another",
    caughtBy: ["states", "what was replaced in history comes back as it is"],
    wrap: onlyCorrected(({ seq }, { move }) => !move.some((moved) => moved.seq === seq)),
  },
  {
    fault: "replaces 100 messages of history at most",
    caughtBy: ["states", "several hundred messages in history may be replaced in one update"],
    wrap: onlyCorrected((_message, _update, at) => at < 100),
  },
  {
    fault: "replaces a live message that is said to be evicted",
    caughtBy: ["errors", contradicts],
    wrap: taking("live"),
  },
  {
    fault: "replaces a superseded message that is said to be evicted",
    caughtBy: ["errors", contradicts],
    wrap: taking("superseded"),
  },
];
