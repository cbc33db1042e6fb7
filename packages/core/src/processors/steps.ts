import { factsOf, type Item } from "../memory/item.ts";
import { Live, type Step } from "../memory/live.ts";
import type { MessageFormat } from "../message-format.ts";

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
