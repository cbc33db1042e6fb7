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
  /** Where the newest branch begins. */
  readonly branch?: BranchStart | undefined;
  /** What is gone of branches that have lost their first message, the newest of them. */
  readonly lost?: readonly Gap[] | undefined;
  /** Made anew with the data and with the owner: tells the change that said them from any other. */
  readonly said?: string | undefined;
}

/** The place of a message that does not follow the one before it, and the `seq` of the one that it follows. */
export interface BranchStart {
  readonly seq: number;
  readonly parent: number;
}

/** By `seq`, messages of a branch that are all gone, from its first on, and what that followed: so does now what followed one of them. */
export interface Gap extends Pick<BranchStart, "parent"> {
  readonly from: number;
  readonly through: number;
}

export function encodeHead({ epoch, life, turn, branch, lost = [], said }: Head): string {
  const starts = lost.length === 0 ? undefined : lost;
  return JSON.stringify({ v: headVersion, epoch, life, turn, branch, lost: starts, said });
}

/** Errors: `CORRUPT_RECORD`; `UNSUPPORTED_VERSION` for a head of a later version. */
export function decodeHead(memoryId: string, head: string | undefined): Head {
  if (head === undefined) return { epoch: 0, life: "" };
  const {
    v,
    epoch,
    life = "",
    turn,
    branch,
    lost,
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
    return {
      epoch: epoch as number,
      life,
      turn,
      branch: isBranchStart(branch) ? branch : undefined,
      lost: Array.isArray(lost) ? lost.filter(isGap) : [],
      said: typeof said === "string" ? said : undefined,
    };
  const message = `${what} cannot be read. Restore it, or clear the memory.`;
  throw new TurnkeepError("CORRUPT_RECORD", message, { details });
}

function isBranchStart(value: unknown): value is BranchStart {
  const { seq, parent } = (value ?? {}) as { readonly [Name in keyof BranchStart]?: unknown };
  return Number.isSafeInteger(seq) && Number.isSafeInteger(parent);
}

function isGap(value: unknown): value is Gap {
  const { from, through, parent } = (value ?? {}) as { readonly [Name in keyof Gap]?: unknown };
  // One that leads forward, which nobody has written, would be followed for ever.
  return [from, through, parent].every(Number.isSafeInteger) && (parent as number) < (from as number);
}
