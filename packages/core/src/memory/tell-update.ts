import type { MemorySettings } from "../memory-settings.ts";
import type { Draft } from "./draft.ts";
import { report } from "./report.ts";

/** Tells what an update has changed, once it is known to be stored; nothing of one that is about a turn's lease alone. */
export function tellUpdate<M>(
  { memoryId, onEvent }: MemorySettings<M>,
  { parts, isOfLease }: Draft<M>,
  attempts: number,
  begun: number | undefined,
): void {
  if (onEvent === undefined || begun === undefined || isOfLease) return;
  const durationMs = performance.now() - begun;
  const { removed = [], superseded: rewound = [], restored = [], ...moved } = parts.movedIds();
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
