import { quoted } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { View } from "../view/view.ts";
import { report } from "./report.ts";

/** A processor behind one that keeps the view within a limit could break that limit. */
export function warnOfOrder<M>({ memoryId, processors, onEvent }: MemorySettings<M>): void {
  const misplaced = processors.slice(0, -1).find((processor) => processor.limitsView === true);
  if (misplaced === undefined) return;
  const message =
    `The processor ${quoted(misplaced.name)} keeps the view within a limit, and others follow it. ` +
    "Put it last, so that what they add counts.";
  report(onEvent, { type: "warning", memoryId, code: "processor-order", message });
}

/** Tells what was changed in a view so that the provider accepts it. */
export function tellRepaired<M>({ memoryId, onEvent }: MemorySettings<M>, view: View<M>): void {
  if (onEvent === undefined) return;
  const { interruptedCalls, leftOut, stages } = view;
  const rules = stages.flatMap(({ by, name }) => (by === "rule" ? [name] : []));
  if (interruptedCalls.length + leftOut.length + rules.length > 0)
    report(onEvent, { type: "repaired", memoryId, interruptedCalls, leftOut, rules });
}
