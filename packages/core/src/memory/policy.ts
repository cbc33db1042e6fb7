import type { Item } from "../steps/item.ts";
import type { ViewPolicy } from "../view/policy.ts";
import type { WindowPolicy } from "../window/policy.ts";
import type { CodedStore } from "./coded-store.ts";

/** All that decides how one memory works, with every default in place. */
export interface Policy<M> extends ViewPolicy<M> {
  readonly store: CodedStore;
  readonly systemFirst: boolean;
}

/** Whether a message stands before all others, wherever it was added. */
export function frontRule<M>(window: WindowPolicy<M>, systemFirst: boolean): (item: Item<M>) => boolean {
  const always = systemFirst && window.unit !== "message";
  return (item) => item.role === "system" && (always || item.meta.front === true);
}
