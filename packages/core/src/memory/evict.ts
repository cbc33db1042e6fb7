import type { Item } from "../steps/item.ts";
import { isPrompt, isSetting } from "../steps/kinds.ts";
import { planWindow } from "../window/plan.ts";
import type { Attempt } from "./attempt.ts";
import type { Draft } from "./draft.ts";

/** Lets the window evict what does not fit. With a summarizer, eviction waits for the summary. */
export function evict<M>({ draft, settings, limits }: Attempt<M>, early = false): void {
  const forSummary = settings.window.summarize !== undefined;
  const plan = planWindow(draft.live, settings, limits, { forSummary, early });
  evictAll(draft, forSummary ? plan.passed : plan.evict);
  const isDue = forSummary && plan.evict.length > plan.passed.length;
  draft.awaitsSummary = isDue ? (early ? "early" : "now") : undefined;
}

/** Moves messages to history, and with what was said those of the settings in front of the rest that are overruled there. */
export function evictAll<M>(draft: Draft<M>, items: readonly Item<M>[]): void {
  draft.leave(items, "evicted");
  if (draft.evicts) draft.leave(overruled(draft.live.items), "evicted");
}

/** Of the messages in front that set what holds from there on: those all of whose settings a later one there sets too. */
function overruled<M>(items: readonly Item<M>[]): Item<M>[] {
  const settings: Item<M>[] = [];
  for (const item of items) {
    if (isSetting(item)) settings.push(item);
    else if (!isPrompt(item) && item.meta.derived === undefined) break;
  }
  const later = new Set<string>();
  return settings.reverse().filter(({ sets }) => {
    const isOverruled = sets.every((name) => later.has(name));
    for (const name of sets) later.add(name);
    return isOverruled;
  });
}
