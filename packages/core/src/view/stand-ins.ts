import type { MessageFormat, ToolResultRef } from "../message-format.ts";
import { IdCounts } from "../steps/pairing.ts";
import type { Step } from "../steps/step.ts";
import { append } from "../values.ts";
import { resultTexts } from "./result-texts.ts";

// Shared, because nearly every step has as many results as calls.
const none: ReadonlySet<never> = new Set();

/**
 * The results of a step that only stood in for another: a call was said to be aborted, as who asks the model again must
 * say something, and what it really brought came behind that before the model went on.
 */
export function standInsOf<M>(step: Step<M>, format: MessageFormat<M>): ReadonlySet<ToolResultRef> {
  const doubled = new Set<string>();
  for (const [id, { inTime }] of step.answers) {
    const made = step.calls.get(id)?.made ?? 0;
    if (made > 0 && inTime > made) doubled.add(id);
  }
  if (doubled.size === 0) return none;
  const wanted = new IdCounts();
  for (const { calls, results } of step.items) {
    if (calls.length === 0) continue;
    wanted.add(calls);
    wanted.add(results, -1);
  }
  const aborted = new Map<string, ToolResultRef[]>();
  for (const item of step.items) {
    if (item.calls.length > 0) continue;
    const late = new Set(item.meta.late);
    const results = item.results.filter(({ id }) => doubled.has(id) && !late.has(id));
    const texts = resultTexts(item, results, format);
    for (const [at, result] of results.entries()) {
      if (saysAborted(texts[at] as string)) append(aborted, result.id, result);
      else wanted.take(result.id);
    }
  }
  // Where nothing else answers a call, the first that says so does.
  return new Set([...aborted.values()].flatMap((all) => all.filter(({ id }) => !wanted.take(id))));
}

/** Longer than what loops say of a call that they gave up. */
const longest = 200;

function saysAborted(text: string): boolean {
  return text.length <= longest && /\b(abort(ed)?|cancell?ed|interrupted|not carried out)\b/i.test(text);
}
