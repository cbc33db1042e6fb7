/**
 * The codes of a {@link TurnkeepError}. A code never changes within a major version; a message may.
 *
 * | code | what happened | what to do |
 * |---|---|---|
 * | `INVALID_OPTION` | an option or argument is not of the documented shape | fix the call |
 * | `INVALID_MESSAGE` | a message cannot be stored without loss, or breaks its format | fix the message |
 * | `NOT_FOUND` | a message or memory that a change was made for is not there (any more); nothing was written | tell the user that it is gone |
 * | `ID_CONFLICT` | a message id is taken by other content, or has left memory | use another id |
 * | `OWNER_MISMATCH` | the memory belongs to somebody else than the `owner` who asks | answer as if it did not exist |
 * | `WINDOW_OVERFLOW` | the newest step, with what never leaves, does not fit the window, or what the profile's provider takes | raise the limit, shorten it, or choose another `overflow` |
 * | `MESSAGE_TOO_LARGE` | one message exceeds what the store can hold | store the large part elsewhere |
 * | `MEMORY_FULL` | the memory, with its history, would exceed what the store holds of one; nothing was written | `remove` messages, `clear()`, or go on in a new memory |
 * | `VERSION_CONFLICT` | somebody else wrote in between; nothing was changed | read again, then repeat |
 * | `CORRUPT_RECORD` | a stored record cannot be read; its id is named | `remove` it or restore it |
 * | `UNSUPPORTED_VERSION` | a record was written by a later version | upgrade |
 * | `STORE_NOT_READY` | tables or indexes are missing, or cannot be made | run `migrate()`, which says what it lacks |
 * | `STORE_REFUSED` | the database refused for certain: rights, password, address, read-only; nothing was written | fix the settings; a repeat does not help |
 * | `STORE_UNAVAILABLE` | the database did not answer, or answered with a fault; a write may have happened | retry; with the same message ids nothing is added twice |
 * | `UNSUPPORTED` | the store or the message format cannot do this | choose another one or do without |
 * | `ABORTED` | the caller's signal ended the call; a write may have happened | nothing; read before you repeat a write |
 * | `CLOSED` | the memory or store was closed | open a new one |
 */
export type TurnkeepErrorCode =
  | "INVALID_OPTION"
  | "INVALID_MESSAGE"
  | "NOT_FOUND"
  | "ID_CONFLICT"
  | "OWNER_MISMATCH"
  | "WINDOW_OVERFLOW"
  | "MESSAGE_TOO_LARGE"
  | "MEMORY_FULL"
  | "VERSION_CONFLICT"
  | "CORRUPT_RECORD"
  | "UNSUPPORTED_VERSION"
  | "STORE_NOT_READY"
  | "STORE_REFUSED"
  | "STORE_UNAVAILABLE"
  | "UNSUPPORTED"
  | "ABORTED"
  | "CLOSED";

/** Facts about an error, for programs. Never a message's content, a password or a key. */
export interface TurnkeepErrorDetails {
  /** The memory that the call was about. */
  readonly memoryId?: string | undefined;
  /** The call that failed: `"add"`, `"messages"`. */
  readonly call?: string | undefined;
  /** The ids of the messages that the call was about, or of the corrupt record. */
  readonly messageIds?: readonly string[] | undefined;
  /** What was needed, in the unit of the limit that was exceeded. */
  readonly needed?: number | undefined;
  /** The limit that was exceeded. */
  readonly limit?: number | undefined;
}

const marker: unique symbol = Symbol.for("turnkeep.error") as never;

/**
 * The one error class of Turnkeep: a stable `code`, a message that says what was wrong and what to do, and, if another
 * error caused it, that error as `cause`.
 *
 * @example
 * ```ts
 * import { isTurnkeepError, singleSlotStore } from "@turnkeep/core";
 *
 * try {
 *   await singleSlotStore().getMessages("");
 * } catch (error) {
 *   if (isTurnkeepError(error, "INVALID_OPTION")) console.log(error.message);
 * }
 * ```
 */
export class TurnkeepError extends Error {
  override readonly name: string = "TurnkeepError";
  readonly code: TurnkeepErrorCode;
  readonly details: TurnkeepErrorDetails;

  constructor(
    code: TurnkeepErrorCode,
    message: string,
    options?: { readonly cause?: unknown; readonly details?: TurnkeepErrorDetails | undefined },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options?.details ?? {};
    Object.defineProperty(this, marker, { value: true });
  }
}

/**
 * Whether `error` is a {@link TurnkeepError}, and has this code if one is given. Also recognises errors from another
 * installed copy of this package, which `instanceof` does not.
 *
 * @example
 * ```ts
 * import { isTurnkeepError, TurnkeepError } from "@turnkeep/core";
 *
 * isTurnkeepError(new TurnkeepError("CLOSED", "closed"), "CLOSED"); // true
 * ```
 */
export function isTurnkeepError<Code extends TurnkeepErrorCode = TurnkeepErrorCode>(
  error: unknown,
  code?: Code,
): error is TurnkeepErrorCode extends Code ? TurnkeepError : TurnkeepError & { readonly code: Code } {
  return (
    typeof error === "object" &&
    error !== null &&
    (error as { [marker]?: unknown })[marker] === true &&
    (code === undefined || (error as TurnkeepError).code === code)
  );
}

/** `INVALID_OPTION` with this message. */
export function invalidOption(message: string): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", message);
}

/** `ABORTED`: the caller's signal ended the call. */
export function abortedError(cause: unknown): TurnkeepError {
  return new TurnkeepError("ABORTED", "The caller's signal ended the call.", { cause });
}
