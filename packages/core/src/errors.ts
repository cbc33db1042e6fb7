/**
 * The codes of a {@link TurnkeepError}. A code never changes within a major version; a message may.
 *
 * | code | what happened | what to do |
 * |---|---|---|
 * | `INVALID_OPTION` | an option or argument is not of the documented shape | fix the call |
 * | `INVALID_MESSAGE` | a message cannot be stored without loss, or breaks its format | fix the message |
 * | `NOT_FOUND` | a message or memory that a change was made for is not there (any more); nothing was written | tell the user that it is gone |
 * | `ID_CONFLICT` | a message id is taken by other content, or by a message that was superseded | use another id |
 * | `BUSY` | a turn of the memory is under way, and `busy` is `"reject"`; or it was asked for within itself | wait for it (`busy: "wait"`), or ask it to end: `requestStop()` |
 * | `TURN_LOST` | the turn that wrote has lost its lease: it could not be renewed, somebody else has begun a turn, or the memory was cleared; nothing was written | end the turn; whoever has the turn now goes on |
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
  | "BUSY"
  | "TURN_LOST"
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

/** `CLOSED`: thrown by every method after `close()`. `store` names the store: `"store-postgres"`. */
export function closedError(store: string): TurnkeepError {
  return new TurnkeepError("CLOSED", `${store} was closed: create a new store`);
}

/** `VERSION_CONFLICT`: the stored version is not `expected`. */
export function conflictError(memoryId: string, expected: string | null): TurnkeepError {
  const wanted = expected === null ? "did not exist" : `was at version ${show(expected)}`;
  return new TurnkeepError(
    "VERSION_CONFLICT",
    `Somebody else wrote to memory ${show(memoryId)}: the change expected that it ${wanted}. ` +
      "Nothing was changed: read again, then repeat",
    { details: { memoryId } },
  );
}

/**
 * `MEMORY_FULL`: after the update the memory would have `needed` bytes, and the store declares `limit` as its
 * `maxMemoryBytes`. Throw it before anything is written.
 */
export function memoryFullError(memoryId: string, needed: number, limit: number): TurnkeepError {
  return new TurnkeepError(
    "MEMORY_FULL",
    `Memory ${show(memoryId)} would have ${needed} bytes with its history, and this store holds ${limit} at most. ` +
      "Nothing was written, and a repeat does not help: remove() messages, clear() the memory, or go on in a new one",
    { details: { memoryId, needed, limit } },
  );
}

/**
 * `STORE_REFUSED`: the database has refused for certain, and nothing was written. `why` says what to mend, and ends
 * without a full stop: `"the role may not insert into turnkeep_messages: grant it the right"`. Never put content in it.
 */
export function refusedError(store: string, why: string, cause: unknown): TurnkeepError {
  return new TurnkeepError("STORE_REFUSED", `${store}: ${why}. Nothing was written`, { cause });
}

/** `STORE_NOT_READY`: `missing`, such as `"the table public.messages"`, does not exist or is of an earlier version. */
export function notReadyError(store: string, missing: string, cause?: unknown): TurnkeepError {
  return new TurnkeepError(
    "STORE_NOT_READY",
    `${store}: ${missing} is missing or out of date: call migrate() once, before the store is used`,
    { cause },
  );
}

/** `UNSUPPORTED_VERSION`: a later version of `packageName` has migrated `what`, such as `"the tables"`. */
export function laterVersionError(
  store: string,
  what: string,
  packageName: string,
  cause?: unknown,
): TurnkeepError {
  return new TurnkeepError(
    "UNSUPPORTED_VERSION",
    `${store}: ${what} were migrated by a later version of ${packageName}: upgrade this process, or, until it is replaced, start it without migrate(), since its calls still work`,
    { cause },
  );
}

/** `UNSUPPORTED`: a method that the store's `capabilities` exclude. */
export function unsupportedError(store: string, what: string): TurnkeepError {
  return new TurnkeepError(
    "UNSUPPORTED",
    `${store} does not support ${what}, as its capabilities say: choose another store or do without`,
  );
}

/** `CORRUPT_RECORD`: what is stored under `memoryId` cannot be read, because `reason`. Never put content in `reason`. */
export function corruptError(
  memoryId: string,
  reason: string,
  options?: {
    /** The messages whose record it is. */
    readonly messageIds?: readonly string[] | undefined;
    /** What reading it threw. */
    readonly cause?: unknown;
  },
): TurnkeepError {
  const { messageIds, cause } = options ?? {};
  const which = messageIds === undefined ? "" : `, message ${messageIds.map(show).join(", ")}`;
  return new TurnkeepError(
    "CORRUPT_RECORD",
    `The stored record of memory ${show(memoryId)}${which} cannot be read: ${reason}. Restore it, or delete it`,
    { cause, details: messageIds === undefined ? { memoryId } : { memoryId, messageIds } },
  );
}

/**
 * What a store throws for `cause`, an error of its driver. A `TurnkeepError` is returned as it is; if `signal` has
 * fired, it is `ABORTED`; otherwise `STORE_UNAVAILABLE`. The driver's message stays in `cause`, since it may quote what
 * was sent. Only its `code`, or that of the error behind it, is shown; without a code, its name.
 *
 * @example
 * ```ts
 * import { storeError } from "@turnkeep/core/store-kit";
 *
 * async function read(query: () => Promise<string>, signal?: AbortSignal): Promise<string> {
 *   try {
 *     return await query();
 *   } catch (cause) {
 *     throw storeError("my-store", cause, signal);
 *   }
 * }
 * ```
 */
export function storeError(store: string, cause: unknown, signal?: AbortSignal | undefined): TurnkeepError {
  if (isTurnkeepError(cause)) return cause;
  if (signal?.aborted) return abortedError(cause);
  const fault = faultOf(cause);
  const shown = fault === "" ? "" : ` (${fault})`;
  return new TurnkeepError(
    "STORE_UNAVAILABLE",
    `${store}: the database did not answer, or answered with a fault${shown}; see the cause. ` +
      "Whether a write, if it was one, took place is open: read again before you repeat it",
    { cause },
  );
}

/** Drivers wrap a connection error two or three times, and not every wrapper has a code. */
const maxCauses = 5;

/** Identifies a driver's error without its message. */
function faultOf(cause: unknown): string {
  let error = cause;
  for (let depth = 0; depth < maxCauses && error instanceof Error; depth++) {
    const code = errorCode(error);
    if (code !== "") return code;
    error = error.cause;
  }
  return cause instanceof Error && cause.name !== "Error" ? cause.name : errorCode(cause);
}

/** The `code` of an error as text; `""` if it has none. */
export function errorCode(cause: unknown): string {
  const code: unknown =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}

/**
 * A database URL as an error message may show it: the password before the host, and values of parameters that look like
 * secrets, are replaced by `***`. Also works for addresses that are not valid URLs (several hosts, or `key=value`
 * pairs), and hides too much rather than too little.
 *
 * @example
 * ```ts
 * import { redactUrl } from "@turnkeep/core/store-kit";
 *
 * redactUrl("postgres://app:s3cret@db.example:5432/chat"); // "postgres://app:***@db.example:5432/chat"
 * ```
 */
export function redactUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^:]*):.*@/is, "$1:***@")
    .replace(
      /((?:^|[?&;\s])[\w.-]*(?:pass|pwd|secret|token|key|credential|auth)[\w.-]*\s*=\s*)('(?:[^'\\]|\\.)*'|[^&;#\s]*)/gi,
      "$1***",
    );
}

/** What JSON leaves as it is, and a terminal or an editor acts on: control characters, line ends, directions. */
const acting = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text as an error message may quote it: on one line, and with nothing in it that a terminal acts on.
 *
 * @example
 * ```ts
 * import { quoted } from "@turnkeep/core/store-kit";
 *
 * quoted("a\n\u009bb"); // '"a\\n\\u009bb"'
 * ```
 */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(acting, codeOf);
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A value as an error message may show it: quoted, escaped, and at most a line long. */
export function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return `a symbol, ${quoted(value.description ?? "")}`;
  if (typeof value !== "string") return String(value);
  return value.length <= 100 ? quoted(value) : `${quoted(value.slice(0, 100))}… (${value.length} characters)`;
}
