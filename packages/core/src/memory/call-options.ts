import { abortSignal } from "../abort.ts";
import type { TransactionOptions } from "../chat-memory.ts";
import type {
  MemoryCallOptions,
  PutOptions,
  RemovalOptions,
  RemoveOptions,
  TurnOptions,
} from "../memory-call-options.ts";
import { oneOf, such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { type MustExist, mustExist } from "./anchor.ts";

const signal = optional(abortSignal);

const signalFields = { signal } satisfies Fields<MemoryCallOptions>;

/** The signal of a call that takes no other option. Errors: `INVALID_OPTION`, as below. */
export function takeSignal(call: string, options: MemoryCallOptions | undefined): AbortSignal | undefined {
  return takeOptions(`${call}'s options`, signalFields, options).signal;
}

const putFields = {
  mustExist: optional(mustExist, false),
  replaces: optional(),
  signal,
} satisfies Fields<PutOptions<unknown>>;

/** What a `put` depends on. */
export function takePutOptions<M>(
  options: PutOptions<M> | undefined,
): PutOptions<M> & { readonly mustExist: MustExist } {
  return takeOptions("put's options", putFields, options);
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

const removeFields = {
  ...conflictFields,
  only: optional(oneOf(true, false), false),
} satisfies Fields<RemoveOptions>;

/** What a `remove` takes, and what it depends on. */
export function takeRemoveOptions(
  options: RemoveOptions | undefined,
): RemoveOptions & { readonly mustExist: MustExist; readonly only: boolean } {
  return takeOptions("remove's options", removeFields, options);
}

/** Below it, a lease would need renewing more often than a database across a network answers. */
const leastLeaseMs = 100;

const turnFields = {
  busy: optional(oneOf("wait", "reject"), "wait"),
  leaseMs: optional(
    such<number>(
      `a whole number of milliseconds from ${leastLeaseMs} to 2147483647`,
      (value) => Number.isSafeInteger(value) && Number(value) >= leastLeaseMs && Number(value) < 2 ** 31,
    ),
    30_000,
  ),
  signal,
} satisfies Fields<TurnOptions>;

/** How a turn is taken and kept. */
export function takeTurnOptions(
  options: TurnOptions | undefined,
): TurnOptions & { readonly busy: "wait" | "reject"; readonly leaseMs: number } {
  return takeOptions("turn's options", turnFields, options);
}
