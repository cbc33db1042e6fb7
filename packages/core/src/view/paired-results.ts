import type { MessageFormat, ToolCallRef, ToolResultRef } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { CallsById } from "../steps/pairing.ts";
import type { Step } from "../steps/step.ts";
import { standInsOf } from "./stand-ins.ts";

/** The calls of a step that results answer in time, by these results: one for each call. */
export type PairedResults = ReadonlyMap<ToolResultRef, ToolCallRef>;

/**
 * Pairs a step's results with its calls. A result in the message of one of its `callers` takes the place of any other; a
 * late one answers nothing, and neither does one that only stood in for another.
 */
export function pairedResults<M>(
  step: Step<M>,
  callers: readonly Item<M>[],
  format: MessageFormat<M>,
): PairedResults {
  const calls = new CallsById<ToolCallRef>();
  calls.askTogether(
    step.items.flatMap((item) => item.calls.map((call) => [call.id, call, call.name] as const)),
  );
  const standIns = standInsOf(step, format);
  const paired = new Map<ToolResultRef, ToolCallRef>();
  for (const { results, meta } of new Set([...callers, ...step.items])) {
    const late = new Set(meta.late);
    for (const result of results) {
      if (late.has(result.id) || standIns.has(result)) continue;
      const call = calls.take(result.id, result.name);
      if (call !== undefined) paired.set(result, call);
    }
  }
  return paired;
}
