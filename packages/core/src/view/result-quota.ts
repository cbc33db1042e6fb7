import type { ToolCallRef, ToolResultRef } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { IdCounts } from "../steps/pairing.ts";

/** Which results of a step its view may still show: as many as it shows calls of their id. */
export class ResultQuota {
  readonly #wanted: IdCounts = new IdCounts();
  /** Shown already, or never to be. */
  readonly #passed: Set<ToolResultRef>;

  /** A result in the message of a call takes the place of any other; those of `standIns` are not shown. */
  constructor(callers: readonly Item<unknown>[], standIns: ReadonlySet<ToolResultRef>) {
    this.#passed = new Set(standIns);
    for (const caller of callers) this.#wanted.add(caller.results, -1);
  }

  /** Adds calls that are shown now. */
  ask(calls: readonly ToolCallRef[]): void {
    this.#wanted.add(calls);
  }

  /** The results of a message that the view shows with the calls so far, and did not show before. None of them is late. */
  take({ results, meta }: Item<unknown>): ReadonlySet<ToolResultRef> {
    const late = new Set(meta.late);
    const taken = new Set<ToolResultRef>();
    for (const result of results) {
      if (this.#passed.has(result) || late.has(result.id) || !this.#wanted.take(result.id)) continue;
      this.#passed.add(result);
      taken.add(result);
    }
    return taken;
  }
}
