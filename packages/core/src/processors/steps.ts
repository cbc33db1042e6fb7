import { factsOf, type Item } from "../memory/item.ts";
import { Live, type Step } from "../memory/live.ts";
import type { MessageFormat } from "../message-format.ts";
import { pairsOf } from "./pairs.ts";

/** The messages grouped into steps, as a window groups them; an item's `seq` is its message's index. */
export function stepsOf<M>(messages: readonly M[], format: MessageFormat<M>): readonly Step<M>[] {
  const reader = { format, counter: undefined, pinned: undefined };
  const items = messages.map(
    (message, seq): Item<M> => ({
      ...factsOf(message, reader),
      id: String(seq),
      seq,
      createdAt: 0,
      payload: "",
      meta: {},
      metaText: undefined,
    }),
  );
  return new Live(items, () => false).steps;
}

/** The messages of one step, or of several that one message with results of all of them holds together. */
export interface Group<M> {
  readonly items: readonly Item<M>[];
}

/** Steps, those that share a message with results taken as one: none of them can go without breaking a pair. */
export function groupsOf<M>(messages: readonly M[], format: MessageFormat<M>): readonly Group<M>[] {
  const steps = stepsOf(messages, format);
  const placeOf = new Map<number, number>();
  for (const [place, step] of steps.entries()) for (const { seq } of step.items) placeOf.set(seq, place);
  /** Of each step the first that it is joined with, or one on the way there. */
  const joinedWith = steps.map((_, place) => place);
  const firstOf = (place: number): number => {
    let first = place;
    while (joinedWith[first] !== first) first = joinedWith[first] as number;
    return first;
  };
  for (const [at, { results, approvals }] of pairsOf(messages, format)) {
    for (const call of [...results.values(), ...approvals.values()]) {
      if (call === undefined) continue;
      const [one, other] = [firstOf(placeOf.get(at) as number), firstOf(placeOf.get(call.at) as number)];
      joinedWith[Math.max(one, other)] = Math.min(one, other);
    }
  }
  const groups = new Map<number, Item<M>[]>();
  for (const [place, { items }] of steps.entries()) {
    const first = firstOf(place);
    groups.set(first, [...(groups.get(first) ?? []), ...items]);
  }
  return [...groups.values()].map((items) => ({ items }));
}
