import { TurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";

/** The layout of a head that this package writes, and the latest that it reads. */
const headVersion = 1;

/** What core keeps of a memory itself, as the JSON text in the store's `head`: its epoch. */
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
