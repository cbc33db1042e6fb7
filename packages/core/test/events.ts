import type { MemoryEvent } from "../src/index.ts";

const ofChanges: ReadonlySet<MemoryEvent["type"]> = new Set([
  "added",
  "replaced",
  "removed",
  "rewound",
  "cleared",
  "erased",
  "committed",
]);

/** A listener for what a memory tells beside the changes that were stored. */
export function besideChanges(events: Pick<MemoryEvent[], "push">): (event: MemoryEvent) => void {
  return (event) => {
    if (!ofChanges.has(event.type)) events.push(event);
  };
}
