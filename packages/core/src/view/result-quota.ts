import type { MessageFormat, ToolCallRef, ToolResultRef } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { IdCounts } from "../steps/pairing.ts";
import { append } from "../values.ts";

/** Which results of a step its view may still show: as many as it shows calls of their id. */
export class ResultQuota {
  readonly #wanted: IdCounts = new IdCounts();
  readonly #shown: Set<ToolResultRef> = new Set();

  /** A result in the message of a call takes the place of any other. */
  constructor(callers: readonly Item<unknown>[]) {
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
      if (this.#shown.has(result) || late.has(result.id) || !this.#wanted.take(result.id)) continue;
      this.#shown.add(result);
      taken.add(result);
    }
    return taken;
  }

  /** Whether all results of a message are shown. */
  showsAll({ results }: Item<unknown>): boolean {
    return results.every((result) => this.#shown.has(result));
  }
}

/** The message with these of its results, and no other. */
export function withOnly<M>(
  item: Item<M>,
  results: ReadonlySet<ToolResultRef>,
  format: MessageFormat<M>,
): M | undefined {
  const message = messageOf(item);
  if (item.results.every((result) => results.has(result))) return message;
  // Asked by id: of those that share one, in their order.
  const stays = new Map<string, boolean[]>();
  for (const result of item.results.toReversed()) append(stays, result.id, results.has(result));
  const isLeftOut = (id: string): boolean => {
    const sharing = stays.get(id) ?? [];
    return !((sharing.length > 1 ? sharing.pop() : sharing[0]) ?? false);
  };
  return format.without(message, { toolResults: isLeftOut });
}
