import type { MessageFormat } from "../message-format.ts";

type PerMessage = <M, T>(message: M, format: MessageFormat<M>, make: () => T) => T;

/**
 * Remembers what was made of each frozen message: a memory shows the same objects again in every view, so that each is
 * counted or changed once, and what is made of it is the same object again.
 */
export function perMessage(): PerMessage {
  const known = new WeakMap<object, WeakMap<object, { readonly made: unknown }>>();
  return <M, T>(message: M, format: MessageFormat<M>, make: () => T): T => {
    if (typeof message !== "object" || message === null || !Object.isFrozen(message)) return make();
    let ofFormat = known.get(format);
    if (ofFormat === undefined) {
      ofFormat = new WeakMap();
      known.set(format, ofFormat);
    }
    const before = ofFormat.get(message);
    if (before !== undefined) return before.made as T;
    const made = make();
    ofFormat.set(message, { made });
    return made;
  };
}
