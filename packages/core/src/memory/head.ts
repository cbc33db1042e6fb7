import { quoted, TurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";
import { isLease, type Lease } from "./lease.ts";

/** The layout of heads that this package writes, and the latest that it can read. */
const headVersion = 1;

/** What core stores about the memory itself, as the JSON text of the store's `head`. */
export interface Head {
  /** Raised by every change of the view other than at its end. */
  readonly epoch: number;
  /** Made anew whenever the memory begins: two memories that had the same id, one after the other, differ in it. */
  readonly life: string;
  /** Set while somebody holds the turn. */
  readonly turn?: Lease | undefined;
  /** Made anew with the data and with the owner: tells the change that said them from any other. */
  readonly said?: string | undefined;
}

export function encodeHead({ epoch, life, turn, said }: Head): string {
  return JSON.stringify({ v: headVersion, epoch, life, turn, said });
}

/** Errors: `CORRUPT_RECORD`; `UNSUPPORTED_VERSION` for a head of a later version. */
export function decodeHead(memoryId: string, head: string | undefined): Head {
  if (head === undefined) return { epoch: 0, life: "" };
  const {
    v,
    epoch,
    life = "",
    turn,
    said,
  } = (parsedJson(head) ?? {}) as { readonly [Name in "v" | keyof Head]?: unknown };
  const what = `The head of memory ${quoted(memoryId)}`;
  const details = { memoryId };
  if (typeof v === "number" && v > headVersion) {
    const message = `${what} was written by a later version of Turnkeep. Upgrade @turnkeep/core.`;
    throw new TurnkeepError("UNSUPPORTED_VERSION", message, { details });
  }
  const isWhole = Number.isSafeInteger(epoch) && typeof life === "string";
  if (v === headVersion && isWhole && (turn === undefined || isLease(turn)))
    return { epoch: epoch as number, life, turn, said: typeof said === "string" ? said : undefined };
  const message = `${what} cannot be read. Restore it, or clear the memory.`;
  throw new TurnkeepError("CORRUPT_RECORD", message, { details });
}
