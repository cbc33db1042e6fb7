import type { MemorySettings } from "../memory-settings.ts";
import type { Draft } from "./draft.ts";
import { report } from "./report.ts";
import type { MovedIds } from "./update-parts.ts";

/**
 * Tells what an update has changed, once it is known to be stored, behind what `came` true of earlier attempts; nothing of
 * one that is about a turn's lease alone.
 */
export function tellUpdate<M>(
  { memoryId, onEvent }: MemorySettings<M>,
  { parts, isOfLease }: Draft<M>,
  attempts: number,
  begun: number | undefined,
  came: MovedIds,
): void {
  if (onEvent === undefined || begun === undefined || isOfLease) return;
  const durationMs = performance.now() - begun;
  const {
    removed = [],
    superseded: rewound = [],
    restored = [],
    ...moved
  } = together(came, parts.movedIds());
  const ids = { added: parts.addedIds, replaced: parts.replacedIds, removed, rewound, restored };
  for (const type of ["added", "replaced", "removed", "rewound", "restored"] as const) {
    const messageIds = ids[type];
    if (messageIds.length > 0) report(onEvent, { type, memoryId, messageIds });
  }
  for (const reason of ["window", "compact", "shrink"] as const) {
    const messageIds = moved[reason];
    if (messageIds !== undefined) report(onEvent, { type: "evicted", memoryId, messageIds, reason });
  }
  report(onEvent, { type: "committed", memoryId, durationMs, attempts });
}

/** Both, of which none names what the other does: a message that has come to a state is not moved there again. */
export function together(first: MovedIds, second: MovedIds): MovedIds {
  const fates = new Set([...Object.keys(first), ...Object.keys(second)] as (keyof MovedIds)[]);
  return Object.fromEntries(
    [...fates].map((fate) => [fate, [...(first[fate] ?? []), ...(second[fate] ?? [])]]),
  );
}
