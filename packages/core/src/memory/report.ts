import type { MemoryEvent } from "../memory-events.ts";

/** Reports an event. What the listener throws must not affect the memory. */
export function report(onEvent: ((event: MemoryEvent) => void) | undefined, event: MemoryEvent): void {
  if (onEvent === undefined) return;
  // Errors are the listener's own, even if it turns out to be async.
  try {
    Promise.resolve(onEvent(event)).catch(() => {});
  } catch {}
}
