import type { MessageFormat, ToolResultRef } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { withOnlyEach } from "./with-only.ts";

/** What each of these results of a message says. */
export function resultTexts<M>(
  item: Pick<Item<M>, "message" | "error" | "results">,
  results: readonly ToolResultRef[],
  format: MessageFormat<M>,
): string[] {
  const alone = results.map((result) => new Set([result]));
  return withOnlyEach(item, alone, format).map((message) =>
    (message === undefined ? [] : format.pieces(message))
      .flatMap((piece) => (piece.of === "tool-result" && piece.type === "text" ? piece.text : []))
      .join(" "),
  );
}
