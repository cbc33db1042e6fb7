import type { Item, ItemFacts, ItemReader } from "./item.ts";

/**
 * How large messages are: in tokens where there is a counter, else in characters of their stored text, which grows with
 * a model's cost more evenly than the number of messages does.
 */
export function sizeOf<M>(
  items: readonly (Pick<ItemFacts<M>, "tokens"> & Pick<Item<M>, "payload">)[],
  reader: ItemReader<M>,
): number {
  const isCounted = reader.counter !== undefined;
  return items.reduce((sum, { tokens, payload }) => sum + (isCounted ? tokens : payload.length), 0);
}
