import type { MessageFormat } from "../message-format.ts";

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
