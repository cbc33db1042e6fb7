import type { MemorySettings } from "../../memory-settings.ts";
import type { Item } from "../../steps/item.ts";
import { isPrompt, isSetting } from "../../steps/kinds.ts";
import type { Live } from "../../steps/live.ts";
import { isPinned, isSystem } from "../../steps/step.ts";
import type { Limits } from "../limits.ts";
import type { PlanOptions } from "../plan.ts";
import { noCost, Room, type WindowPlan } from "../room.ts";
import type { EvictionUnit } from "./unit.ts";

/** LangChain4j's windows, to the letter. */
export const message: EvictionUnit = {
  name: "message",
  defaults: { target: 1, overflow: "evict", systemFirst: false, repair: false },
  refuses: {
    cacheTtlMs: "LangChain4j's windows know no cache",
    summarize: "LangChain4j's windows have no summaries",
  },
  replacementRoles: ["user", "assistant"],
  keepsSystems: true,
  evictsBeforeEach: true,
  sparesNewest: false,
  beginsGroup: () => true,
  // LangChain4j shows its system message, however long. It knows no pins, so those obey the limit.
  showsWhatStays: (live) => !live.steps.some((step) => isPinned(step) && !isSystem(step)),
  plan: planByMessage,
};

/**
 * LangChain4j's algorithm (`MessageWindowChatMemory`, `TokenWindowChatMemory`, 1.19.0): the oldest message that is not
 * a leading system message goes. After an assistant message with calls, the results directly after it go too, whatever
 * calls they answer. The system message is protected only while it is first.
 */
function planByMessage<M>(
  live: Live<M>,
  { window: { target, overflow } }: MemorySettings<M>,
  limits: Limits,
  { refill = false, slack = noCost }: PlanOptions,
): WindowPlan<M> {
  const { items } = live;
  const room = new Room(items.length, live.tokens, limits);
  room.enter(slack);
  const evict: Item<M>[] = [];
  if (room.fits && !refill) return { evict, passed: [], stays: room.total };
  const reached = room.goal(target, refill ? 0 : 1);
  // Must stay together: the newest message, the call that it answers, and all that came with that call.
  const newest = items.at(-1);
  const kept = overflow === "evict" || newest === undefined ? undefined : live.stepOf(newest);
  const mayLeave = (item: Item<M>): boolean => {
    const step = live.stepOf(item);
    return step !== kept && !isPinned(step);
  };
  const leave = (item: Item<M>): void => {
    evict.push(item);
    room.leave(1, item.tokens);
  };
  let protectedSystem = false;
  for (let index = 0; index < items.length && !reached(); index++) {
    const item = items[index] as Item<M>;
    if (!protectedSystem && isPrompt(item)) {
      protectedSystem = true;
      continue;
    }
    if (!mayLeave(item) || isSetting(item)) continue;
    leave(item);
    if (item.role !== "assistant" || item.calls.length === 0) continue;
    for (; index + 1 < items.length; index++) {
      const next = items[index + 1] as Item<M>;
      if (next.role !== "tool" || !mayLeave(next)) break;
      leave(next);
    }
  }
  return { evict, passed: [], stays: room.total };
}
