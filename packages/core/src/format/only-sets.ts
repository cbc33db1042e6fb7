import type { MessageFormat } from "../message-format.ts";

/**
 * Whether a system message says nothing: it may set what holds from there on.
 *
 * @example
 * ```ts
 * import { modelMessageFormat } from "@turnkeep/core";
 * import { onlySets } from "@turnkeep/core/format-kit";
 *
 * onlySets({ role: "system", content: "Be brief." }, modelMessageFormat); // false
 * ```
 */
export function onlySets<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.isEmpty(message)) return true;
  return (format.sets?.(message).length ?? 0) > 0 && format.inForce?.([message])[0] === message;
}
