import type { MemorySettings } from "../memory-settings.ts";
import type { Live } from "../steps/live.ts";
import type { Limits } from "./limits.ts";
import type { Cost, WindowPlan } from "./room.ts";

/** How a plan is made. */
export interface PlanOptions {
  /** Plan down to the target even below the limit, to see what may come back from history. */
  readonly refill?: boolean;
  /** What the view takes beyond the live messages and their repair. */
  readonly slack?: Cost;
  /** Half-way between target and limit already counts as full, to evict where it costs least. */
  readonly early?: boolean;
  /** Plan what to summarize: down to the target, with room for the summary. */
  readonly forSummary?: boolean;
}

/**
 * Decides what leaves: a pure function of the live messages and the limits. It calls format and counter only for the
 * results that repair will insert for open calls.
 */
export function planWindow<M>(
  live: Live<M>,
  settings: MemorySettings<M>,
  limits: Limits,
  options: PlanOptions = {},
): WindowPlan<M> {
  const { maxMessages, maxTokens } = limits;
  const unbounded = !Number.isFinite(maxMessages) && !Number.isFinite(maxTokens);
  if (unbounded && live.boundaries === 0) {
    return { evict: [], passed: [], stays: { messages: live.items.length, tokens: live.tokens } };
  }
  return settings.window.unit.plan(live, settings, limits, options);
}
