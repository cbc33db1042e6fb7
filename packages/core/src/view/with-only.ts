import type { MessageFormat, ToolResultRef } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { append } from "../values.ts";

/** The message with these of its results, and no other. */
export function withOnly<M>(
  item: Item<M>,
  results: ReadonlySet<ToolResultRef>,
  format: MessageFormat<M>,
): M | undefined {
  return withOnlyOf(messageOf(item), item.results, results, format);
}

/** The message once with each of these sets of its results, none of which has one of another's. */
export function withOnlyEach<M>(
  item: Pick<Item<M>, "message" | "error" | "results">,
  sets: readonly ReadonlySet<ToolResultRef>[],
  format: MessageFormat<M>,
): (M | undefined)[] {
  /** Halves of halves: to take each set out of the whole would cost the square of their number. */
  const split = (
    message: M | undefined,
    held: readonly ToolResultRef[],
    within: readonly ReadonlySet<ToolResultRef>[],
  ): (M | undefined)[] => {
    if (within.length === 0) return [];
    const all = new Set(within.flatMap((results) => [...results]));
    const part = message === undefined ? undefined : withOnlyOf(message, held, all, format);
    if (within.length === 1) return [part];
    const left = held.filter((result) => all.has(result));
    const middle = within.length >> 1;
    return [within.slice(0, middle), within.slice(middle)].flatMap((half) => split(part, left, half));
  };
  return split(messageOf(item), item.results, sets);
}

function withOnlyOf<M>(
  message: M,
  held: readonly ToolResultRef[],
  results: ReadonlySet<ToolResultRef>,
  format: MessageFormat<M>,
): M | undefined {
  if (held.every((result) => results.has(result))) return message;
  // Asked by id: of those that share one, in their order.
  const stays = new Map<string, boolean[]>();
  for (const result of held.toReversed()) append(stays, result.id, results.has(result));
  const isLeftOut = (id: string): boolean => {
    const sharing = stays.get(id) ?? [];
    return !((sharing.length > 1 ? sharing.pop() : sharing[0]) ?? false);
  };
  return format.without(message, { toolResults: isLeftOut });
}
