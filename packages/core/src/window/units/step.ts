import { planByGroups } from "../plan-by-groups.ts";
import type { EvictionUnit } from "./unit.ts";

/** An assistant message with all results of its calls leaves as one; any other message alone. */
export const step: EvictionUnit = {
  name: "step",
  defaults: { target: undefined, overflow: "throw", systemFirst: true, repair: true },
  refuses: {},
  replacementRoles: ["user", "assistant"],
  keepsSystems: false,
  evictsBeforeEach: false,
  sparesNewest: true,
  beginsGroup: () => true,
  showsWhatStays: () => false,
  plan: planByGroups,
};
