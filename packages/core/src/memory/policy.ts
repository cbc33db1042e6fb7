import type { MemoryEvent } from "../memory-events.ts";
import type { Item } from "../steps/item.ts";
import type { ViewPolicy } from "../view/policy.ts";
import type { CodedStore } from "./coded-store.ts";

/** All that decides how one memory works, and where it is kept, with every default in place. */
export interface Policy<M> extends ViewPolicy<M> {
  readonly store: CodedStore;
  readonly owner: string | undefined;
  readonly systemFirst: boolean;
  /** Whether a message stands before all others, wherever it was added. */
  readonly isFront: (item: Item<M>) => boolean;
  readonly keepsHistory: boolean;
  readonly timeoutMs: number;
  readonly onEvent: ((event: MemoryEvent) => void) | undefined;
}
