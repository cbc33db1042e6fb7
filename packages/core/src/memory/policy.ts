import type { MemoryEvent } from "../memory-events.ts";
import type { Item } from "../steps/item.ts";
import type { ViewPolicy } from "../view/policy.ts";
import type { CodedStore } from "./coded-store.ts";

/** Everything that decides how a memory works and where it is kept, with all defaults filled in. */
export interface Policy<M> extends ViewPolicy<M> {
  readonly store: CodedStore;
  readonly owner: string | undefined;
  readonly systemFirst: boolean;
  /** Whether a message goes before all others, wherever it was added. */
  readonly isFront: (item: Item<M>) => boolean;
  readonly keepsHistory: boolean;
  readonly timeoutMs: number;
  /** Whether what the store could not do now is repeated. */
  readonly retry: boolean;
  readonly onEvent: ((event: MemoryEvent) => void) | undefined;
}
