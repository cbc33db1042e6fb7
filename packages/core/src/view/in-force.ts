import { onlySets } from "../format/only-sets.ts";
import type { MessageFormat } from "../message-format.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";
import type { Item } from "../steps/item.ts";
import { isSetting } from "../steps/kinds.ts";
import { type Step, stepWith } from "../steps/step.ts";

/**
 * Neighbours that only set what holds from there on, as one message wherever the format can: what stood between them has
 * left, and some providers refuse two in a row.
 */
export function asOneSetting<M>(steps: readonly Step<M>[], format: MessageFormat<M>): readonly Step<M>[] {
  const isOneOfThem = (step: Step<M> | undefined): boolean => {
    const item = step?.items[0];
    return item !== undefined && isSetting(item) && onlySets(item.message as M, format);
  };
  if (!steps.some((step, index) => isOneOfThem(step) && isOneOfThem(steps[index + 1]))) return steps;
  const shown: Step<M>[] = [];
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as Step<M>;
    let end = index + 1;
    if (isOneOfThem(step)) while (isOneOfThem(steps[end])) end++;
    if (end - index === 1) shown.push(step);
    else shown.push(...joined(steps.slice(index, end), format));
    index = end - 1;
  }
  return shown;
}

/** Each in the place of one of those that it was made of. */
function joined<M>(steps: readonly Step<M>[], format: MessageFormat<M>): Step<M>[] {
  const items = steps.map(({ items: [item] }) => item as Item<M>);
  const messages = format.inForce?.(items.map(({ message }) => message as M)) ?? [];
  return messages.map((message, index) => {
    const item = items[index - messages.length + items.length] as Item<M>;
    return stepWith([{ ...item, message: deepFreeze(message) }]);
  });
}
