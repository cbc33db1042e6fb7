import type { ItemFacts, ItemReader } from "../steps/item.ts";

/** Roughly what an image, a page or a few seconds of sound cost a model (1,000 tokens), in characters of text. */
const charactersOfMedium = 4000;

/** How large messages are: in tokens where there is a counter, else in characters of text. */
export function sizeOf<M>(
  items: readonly Pick<ItemFacts<M>, "message" | "tokens">[],
  reader: ItemReader<M>,
): number {
  const { counter, format } = reader;
  const charactersOf = (message: M): number =>
    format
      .pieces(message)
      .reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : charactersOfMedium), 0);
  return items.reduce((sum, { message, tokens }) => {
    if (counter !== undefined) return sum + tokens;
    return sum + (message === undefined ? 0 : charactersOf(message));
  }, 0);
}
