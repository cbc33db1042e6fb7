import { isDerived, isPinned, isSystem, isUser } from "../../steps/step.ts";
import { step } from "./step.ts";
import type { EvictionUnit } from "./unit.ts";

/** A user message leaves with all steps up to the next one, and views start with a user message, or with what is pinned. */
export const turn: EvictionUnit = {
  ...step,
  name: "turn",
  replacementRoles: ["user"],
  beginsGroup: isUser,
  // Or with a provider's compaction, which stands for what came before.
  opensView: (one) =>
    isUser(one) ||
    isDerived(one) ||
    one.items.some((item) => item.boundary) ||
    (isPinned(one) && !isSystem(one)),
};
