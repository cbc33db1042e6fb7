import type { MessageFormat } from "../message-format.ts";
import { frozenCopy } from "./frozen-copy.ts";

type PerObject = <M, T>(of: object | undefined, format: MessageFormat<M>, make: () => T) => T;

/** Caches one value per object and format; caches nothing for `undefined`. */
/* @__NO_SIDE_EFFECTS__ */
export function perObject(): PerObject {
  const known = new WeakMap<object, WeakMap<object, { readonly made: unknown }>>();
  return <M, T>(of: object | undefined, format: MessageFormat<M>, make: () => T): T => {
    if (of === undefined) return make();
    let ofFormat = known.get(format);
    if (ofFormat === undefined) {
      ofFormat = new WeakMap();
      known.set(format, ofFormat);
    }
    const before = ofFormat.get(of);
    if (before !== undefined) return before.made as T;
    const made = make();
    ofFormat.set(of, { made });
    return made;
  };
}

/** Caches one value per frozen message: a memory shows the same objects again in every view. */
export function perMessage(): <M, T>(message: M, format: MessageFormat<M>, make: () => T) => T {
  const known = perObject();
  return (message, format, make) => {
    const isKept = typeof message === "object" && message !== null && Object.isFrozen(message);
    return known(isKept ? message : undefined, format, make);
  };
}

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
