import { abortSignal } from "../abort.ts";
import type {
  MemoryCallOptions,
  PutOptions,
  PutRules,
  RemovalOptions,
  RemoveOptions,
  RemoveRules,
  TransactionOptions,
  TurnOptions,
} from "../memory-call-options.ts";
import { lease, oneOf } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { type MustExist, mustExist } from "./anchor.ts";

const signal = optional(abortSignal);

const signalFields = { signal } satisfies Fields<MemoryCallOptions>;

/** The signal of a call that takes no other option. Errors: `INVALID_OPTION`, as below. */
export function takeSignal(call: string, options: MemoryCallOptions | undefined): AbortSignal | undefined {
  return takeOptions(`${call}'s options`, signalFields, options).signal;
}

const putRules = {
  mustExist: optional(mustExist, false),
  replaces: optional(),
} satisfies Fields<PutRules<unknown>>;

const putFields = { ...putRules, signal } satisfies Fields<PutOptions<unknown>>;

/** What a `put` depends on. */
export function takePutOptions<M>(
  options: PutOptions<M> | undefined,
): PutOptions<M> & { readonly mustExist: MustExist } {
  return takeOptions("put's options", putFields, options);
}

/** The same in a transaction, which has the signal. */
export function takePutRules<M>(
  options: PutRules<M> | undefined,
): PutRules<M> & { readonly mustExist: MustExist } {
  return takeOptions("put's options", putRules, options);
}

const conflictFields = {
  mustExist: optional(mustExist, false),
  onConflict: optional(oneOf("merge", "throw")),
  signal,
} satisfies Fields<RemovalOptions> & Fields<TransactionOptions>;

/** What a transaction, or a call that takes messages away, depends on. */
export function takeConflictOptions(
  call: string,
  options: RemovalOptions | undefined,
): RemovalOptions & { readonly mustExist: MustExist } {
  return takeOptions(`${call}'s options`, conflictFields, options);
}

const removeRules = { only: optional(oneOf(true, false), false) } satisfies Fields<RemoveRules>;

const removeFields = { ...conflictFields, ...removeRules } satisfies Fields<RemoveOptions>;

/** What a `remove` takes, and what it depends on. */
export function takeRemoveOptions(
  options: RemoveOptions | undefined,
): RemoveOptions & { readonly mustExist: MustExist; readonly only: boolean } {
  return takeOptions("remove's options", removeFields, options);
}

/** The same in a transaction, which has the rest. */
export function takeRemoveRules(options: RemoveRules | undefined): RemoveRules & { readonly only: boolean } {
  return takeOptions("remove's options", removeRules, options);
}

const turnFields = {
  busy: optional(oneOf("wait", "reject"), "wait"),
  leaseMs: optional(lease, 30_000),
  mustExist: optional(mustExist, false),
  signal,
} satisfies Fields<TurnOptions>;

/** How a turn is taken and kept. */
export function takeTurnOptions(options: TurnOptions | undefined): TurnOptions & {
  readonly busy: "wait" | "reject";
  readonly leaseMs: number;
  readonly mustExist: MustExist;
} {
  return takeOptions("turn's options", turnFields, options);
}
