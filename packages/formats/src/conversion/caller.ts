import { isObject } from "@turnkeep/core/format-kit";

/** Whether the model made a call itself, not code that it wrote: then its `caller` says no more than none would. */
export function isDirect(caller: unknown): boolean {
  return isObject(caller) && caller.type === "direct" && Object.keys(caller).length === 1;
}
