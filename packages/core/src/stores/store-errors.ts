import { abortedError, isTurnkeepError, TurnkeepError } from "../errors.ts";
import { show } from "./text.ts";

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
    `${store}: ${what} were migrated by a later version of ${packageName}: upgrade this one`,
    { cause },
  );
}

/** `UNSUPPORTED`: a method that the store's `capabilities` exclude. */
export function unsupportedError(store: string, method: string): TurnkeepError {
  return new TurnkeepError(
    "UNSUPPORTED",
    `${store} does not support ${method}(), as its capabilities say: choose another store or do without`,
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
