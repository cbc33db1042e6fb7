import type { HistoryPage, MemoryUpdate, StoredMessage } from "@turnkeep/core";

/** A message of a memory, live or in history. */
export type Kept = HistoryPage["messages"][number];

/** What a memory holds after a change, in order. */
export function changed(kept: readonly Kept[], { append, replace, move }: MemoryUpdate): Kept[] {
  const all = new Map(kept.map((one) => [one.seq, one]));
  for (const one of append) all.set(one.seq, { ...one, state: "live" });
  for (const { state = "live", ...one } of replace) all.set(one.seq, { ...one, state });
  for (const { seq, to } of move) {
    const one = all.get(seq);
    if (to === "removed") all.delete(seq);
    else if (one !== undefined) all.set(seq, { ...one, state: to });
  }
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}

/** Of what a memory holds, the messages that it shows. */
export function liveOf(kept: readonly Kept[]): StoredMessage[] {
  return kept.flatMap(({ state, ...one }) => (state === "live" ? [one] : []));
}
