import type { Item } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { isPinned } from "../steps/step.ts";
import type { PlanOptions } from "./plan.ts";
import type { Limits, WindowPolicy } from "./policy.ts";
import { noCost, Room, type WindowPlan } from "./room.ts";

/**
 * LangChain4j's algorithm (`MessageWindowChatMemory`, `TokenWindowChatMemory`, 1.19.0): the first message that is no
 * leading system message goes; after an assistant message with calls, the results that follow it directly go too,
 * whatever calls they answer. The system message is protected only while it stands first.
 */
export function planByMessage<M>(
  live: Live<M>,
  { target, overflow, pinned }: WindowPolicy<M>,
  limits: Limits,
  { refill = false, slack = noCost }: PlanOptions,
): WindowPlan<M> {
  const { items } = live;
  const room = new Room(items.length, live.tokens, limits);
  room.enter(slack);
  const evict: Item<M>[] = [];
  if (room.fits && !refill) return { evict, passed: [], stays: room.total, overflow: undefined };
  const reached = room.goal(target, refill ? 0 : 1);
  const mayLeave = (item: Item<M>): boolean => pinned === undefined || !isPinned(live.stepOf(item));
  const leave = (item: Item<M>): void => {
    evict.push(item);
    room.leave(1, item.tokens);
  };
  let protectedSystem = false;
  const last = overflow === "evict" ? items.length : newestFrom(items);
  for (let index = 0; index < last && !reached(); index++) {
    const item = items[index] as Item<M>;
    if (!protectedSystem && item.role === "system") {
      protectedSystem = true;
      continue;
    }
    if (!mayLeave(item)) continue;
    leave(item);
    if (item.role !== "assistant" || item.calls.length === 0) continue;
    for (; index + 1 < last; index++) {
      const next = items[index + 1] as Item<M>;
      if (next.role !== "tool" || !mayLeave(next)) break;
      leave(next);
    }
  }
  return { evict, passed: [], stays: room.total, overflow: room.overflow() };
}

/** Where the newest message begins, with the call that it and the results before it answer: what is not to be torn. */
function newestFrom<M>(items: readonly Item<M>[]): number {
  const newest = items.length - 1;
  const before = items.findLastIndex((item) => item.role !== "tool");
  const calls = before < newest && (items[before]?.calls.length ?? 0) > 0;
  return calls ? before : newest;
}
