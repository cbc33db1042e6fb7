import type { MessageFormat } from "../message-format.ts";
import { perMessage } from "../steps/per-message.ts";
import { frozenCopy } from "./frozen-copy.ts";

/** A message made from another; `undefined`: nothing is left of it. */
type CopyOf = <M>(
  message: M,
  format: MessageFormat<M>,
  make: () => M | undefined,
  how?: string,
) => M | undefined;

/**
 * Caches the message made from each frozen message, by how it was made. The result is frozen and the same object in
 * every view, so that it is made, checked and counted once.
 */
export function copiesPerMessage(): CopyOf {
  const known = perMessage();
  return <M>(message: M, format: MessageFormat<M>, make: () => M | undefined, how = ""): M | undefined => {
    const copies = known(message, format, () => new Map<string, M | undefined>());
    if (!copies.has(how)) {
      const made = make();
      copies.set(how, made === undefined ? undefined : frozenCopy(made, format));
    }
    return copies.get(how);
  };
}
