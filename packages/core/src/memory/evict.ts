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
  leaveOverruled(draft);
}

/** The second half of it, for what is not whole until something stands in the place of what left. */
export function leaveOverruled<M>(draft: Draft<M>): void {
  if (draft.evicts) draft.leave(overruled(draft.live.items), "evicted");
}

/**
 * Of the messages in front that set what holds from there on: those all of whose settings a later one there sets too. Where a
 * derived message stands for what was said, going back to behind that brings nothing of it back, so there a setting is
 * overruled only by another there.
 */
function overruled<M>(items: readonly Item<M>[]): Item<M>[] {
  const settings: Item<M>[] = [];
  let through = 0;
  for (const item of items) {
    const { derived } = item.meta;
    if (isSetting(item)) settings.push(item);
    else if (derived !== undefined) through = Math.max(through, derived.through);
    else if (!isPrompt(item)) break;
  }
  let later = new Set<string>();
  let isCovered = false;
  return settings.reverse().filter(({ seq, sets }) => {
    if (!isCovered && seq <= through) {
      isCovered = true;
      later = new Set();
    }
    const isOverruled = sets.every((name) => later.has(name));
    for (const name of sets) later.add(name);
    return isOverruled;
  });
}
