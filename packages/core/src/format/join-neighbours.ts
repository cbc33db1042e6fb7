import type { MessageFormat } from "../message-format.ts";

/** The messages, with neighbours as one message where the format can join them. */
export function joinNeighbours<M>(messages: readonly M[], format: MessageFormat<M>): M[] {
  const joined: M[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const both = before === undefined ? undefined : format.joined?.(before, message);
    if (both === undefined) joined.push(message);
    else joined.splice(-1, 1, both);
  }
  return joined;
}
