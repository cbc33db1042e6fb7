import { TurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";

/** The layout of heads that this package writes, and the latest that it can read. */
const headVersion = 1;

/** What core stores about the memory itself: its epoch, as the JSON text of the store's `head`. */
export function encodeHead(epoch: number): string {
  return JSON.stringify({ v: headVersion, epoch });
}

/** The epoch in a head. Errors: `CORRUPT_RECORD`; `UNSUPPORTED_VERSION` for one of a later version. */
export function decodeHead(memoryId: string, head: string | undefined): number {
  if (head === undefined) return 0;
  const { v, epoch } = (parsedJson(head) ?? {}) as { readonly v?: unknown; readonly epoch?: unknown };
  const what = `The head of memory ${JSON.stringify(memoryId)}`;
  const details = { memoryId };
  if (typeof v === "number" && v > headVersion) {
    const message = `${what} was written by a later version of Turnkeep. Upgrade @turnkeep/core.`;
    throw new TurnkeepError("UNSUPPORTED_VERSION", message, { details });
  }
  if (v === headVersion && Number.isSafeInteger(epoch)) return epoch as number;
  const message = `${what} cannot be read. Restore it, or clear the memory.`;
  throw new TurnkeepError("CORRUPT_RECORD", message, { details });
}
