import { invalidOption, show, TurnkeepError } from "../errors.ts";
import { type Check, integer, such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { MemoryUpdate, MessageState, StoreCapabilities, StoredMessage } from "../store-contract.ts";
import { kindOf } from "../values.ts";
import { isPlainText, scanText } from "./text.ts";

const maxHeadBytes = 16 * 1024;

/** What `data` may take, in UTF-8 bytes. */
export const maxDataBytes: number = 8 * 1024;

/** Every {@link MessageState}. */
export const messageStates: readonly MessageState[] = ["live", "evicted", "superseded"];

/** Throws `INVALID_OPTION` unless `memoryId` is 1 to 512 UTF-8 bytes of well-formed Unicode without U+0000. */
export function checkMemoryId(memoryId: string): void {
  checkName("A memory id", memoryId, 512);
}

/** Throws `INVALID_OPTION` unless `owner` is 1 to 512 UTF-8 bytes of well-formed Unicode without U+0000. */
export function checkOwner(owner: string): void {
  checkName("An owner", owner, 512);
}

/** Throws `INVALID_OPTION` unless the version that a delete expects is absent, or 1 to 256 bytes, as every version is. */
export function checkDelete(expected: string | undefined): void {
  if (expected !== undefined) checkName("A delete's expected version", expected, 256);
}

/** Throws `INVALID_OPTION` unless `messageId` is 1 to 256 UTF-8 bytes of well-formed Unicode without U+0000. */
export function checkMessageId(messageId: string): void {
  checkName("A message id", messageId, 256);
}

/**
 * An option that says how long a memory lives untouched: a positive integer of milliseconds.
 *
 * @example
 * ```ts
 * import { optional, ttl } from "@turnkeep/core/store-kit";
 *
 * const fields = { ttlMs: optional(ttl) };
 * ```
 */
export const ttl: Check<number> = (name, value) => {
  if (Number.isSafeInteger(value) && Number(value) > 0) return;
  throw invalidOption(`${name} must be a positive whole number of milliseconds, not ${show(value)}`);
};

/** Rules for a text that names things in a database. */
type NameRules = {
  /** In UTF-8 bytes. Default: any. */
  readonly maxBytes?: number | undefined;
  /** What must not occur, besides lone surrogates and U+0000. */
  readonly forbidden?: RegExp | undefined;
  /** How the error words that: `"without braces"`. */
  readonly rule?: string | undefined;
  /** What to do instead, where it must not be empty: `'leave it out for "public"'`. Default: it may be empty. */
  readonly ifEmpty?: string | undefined;
};

const ruleFields = {
  maxBytes: optional(integer(1), Number.POSITIVE_INFINITY),
  forbidden: optional(such<RegExp>("an expression", (value) => value instanceof RegExp)),
  rule: optional(),
  ifEmpty: optional(),
} satisfies Fields<NameRules>;

/**
 * An option that names things in a database, such as `prefix`: well-formed Unicode without U+0000 that follows these
 * rules.
 *
 * @example
 * ```ts
 * import { nameText } from "@turnkeep/core/store-kit";
 *
 * const prefix = nameText({ maxBytes: 100, forbidden: /\$/, rule: "without $" });
 * prefix("prefix", "chat_");
 * ```
 */
export function nameText(rules?: NameRules): Check<string> {
  const { maxBytes, forbidden, rule, ifEmpty } = takeOptions("nameText's rules", ruleFields, rules);
  return (name, value) => {
    if (typeof value !== "string") throw invalidOption(`${name} must be a string, not ${show(value)}`);
    const { bytes, fault } = scanText(value);
    if (fault !== undefined || forbidden?.test(value)) {
      const more = rule === undefined ? "" : `, ${rule}`;
      throw invalidOption(
        `${name} must be well-formed Unicode without U+0000${more}, and must not be ${show(value)}`,
      );
    }
    if (bytes > maxBytes) {
      throw invalidOption(`${name} must not exceed ${maxBytes} UTF-8 bytes, but ${show(value)} has ${bytes}`);
    }
    if (value === "" && ifEmpty !== undefined) throw invalidOption(`${name} must not be empty: ${ifEmpty}`);
  };
}

/**
 * Throws unless `update` is one that a store can apply. Call it before anything is written. It does not know what is
 * stored; the version check does the rest.
 *
 * - `version` and `expected` are 1 to 256 bytes and differ; `nextSeq` is a positive safe integer.
 * - `append` ascends by `seq`; no `seq` or id is twice in `append` and `replace`, each `seq` is below `nextSeq`.
 * - the `state` of what `replace` names is `evicted` or absent.
 * - `move` names each `seq` once, with a known target.
 * - ids, owner, payloads, metas, head and data follow the contract's rules for text; `head` is 16 KB at most, `data` 8 KB.
 * - `ttlMs` is a positive integer or `null`.
 *
 * Errors: `INVALID_OPTION`; `MESSAGE_TOO_LARGE` if `payload` and `meta` of one message together exceed
 * `capabilities.maxMessageBytes`.
 */
export function checkUpdate(
  update: MemoryUpdate,
  capabilities: Pick<StoreCapabilities, "maxMessageBytes">,
): void {
  if (typeof update !== "object" || update === null) {
    throw invalidOption(`An update must be an object, not ${kindOf(update)}`);
  }
  const { expected, version, nextSeq, owner, head, data, ttlMs } = update;
  checkName("An update's version", version, 256);
  if (expected !== null) checkName("An update's expected version", expected, 256);
  if (expected === version) {
    throw invalidOption(`An update's version must be new, but ${show(version)} is also the one it expects`);
  }
  if (!isSeq(nextSeq)) throw invalidOption(`nextSeq must be a positive safe integer, not ${show(nextSeq)}`);
  if (owner !== undefined) checkOwner(owner);
  if (head !== undefined && checkText(() => "The head", head) > maxHeadBytes) {
    throw invalidOption(`The head must not exceed ${maxHeadBytes} bytes`);
  }
  if (data !== undefined && checkText(() => "The data", data) > maxDataBytes) {
    throw invalidOption(`The data must not exceed ${maxDataBytes} bytes`);
  }
  if (ttlMs !== undefined && ttlMs !== null) ttl("An update's ttlMs", ttlMs);
  checkMessages(update, capabilities.maxMessageBytes);
  for (const { id, state } of update.replace) {
    if (state === undefined || state === "evicted") continue;
    throw invalidOption(
      `Message ${show(id)} can be replaced as evicted, or as live without a state, not ${show(state)}`,
    );
  }
  checkMoves(update);
}

function checkMessages(update: MemoryUpdate, maxMessageBytes: number): void {
  for (const list of ["append", "replace"] as const) {
    if (!Array.isArray(update[list])) throw invalidOption(`An update's ${list} must be an array`);
  }
  // Most updates have one message, which is named once.
  const named = update.append.length + update.replace.length > 1 ? new Set<number | string>() : undefined;
  for (const list of ["append", "replace"] as const) {
    let last = 0;
    for (const message of update[list]) {
      const bytes = checkMessage(message, maxMessageBytes);
      const { seq, id } = message;
      checkSeq(() => `Message ${show(id)}`, seq, update.nextSeq);
      if (list === "append" && seq <= last) {
        throw invalidOption(`append must ascend by seq, but ${seq} (message ${show(id)}) follows ${last}`);
      }
      if (named?.has(seq)) throw invalidOption(`An update must name seq ${seq} once in append and replace`);
      if (named?.has(id))
        throw invalidOption(`An update must name message ${show(id)} once in append and replace`);
      last = seq;
      named?.add(seq).add(id);
      if (bytes > maxMessageBytes) throw tooLarge(id, bytes, maxMessageBytes);
    }
  }
}

/** Returns the size of the message in UTF-8 bytes; in characters where it cannot exceed the limit. */
function checkMessage(message: StoredMessage, maxBytes: number): number {
  if (typeof message !== "object" || message === null) {
    throw invalidOption(`A message must be an object, not ${kindOf(message)}`);
  }
  const { id, createdAt, payload, meta } = message;
  checkMessageId(id);
  if (!Number.isSafeInteger(createdAt) || createdAt < 0) {
    throw invalidOption(
      `createdAt of message ${show(id)} must be whole milliseconds since the epoch, not ${show(createdAt)}`,
    );
  }
  const mayExceed = (payload?.length + (meta?.length ?? 0)) * mostBytes > maxBytes;
  const bytes = checkText(() => `The payload of message ${show(id)}`, payload, mayExceed);
  if (meta === undefined) return bytes;
  return bytes + checkText(() => `The meta of message ${show(id)}`, meta, mayExceed);
}

function checkMoves(update: MemoryUpdate): void {
  if (!Array.isArray(update.move)) throw invalidOption("An update's move must be an array");
  const moved = update.move.length > 1 ? new Set<number>() : undefined;
  for (const move of update.move) {
    if (typeof move !== "object" || move === null) {
      throw invalidOption(`A move must be an object, not ${kindOf(move)}`);
    }
    const { seq, to } = move;
    checkSeq(() => "A move", seq, update.nextSeq);
    if (moved?.has(seq)) throw invalidOption(`An update must move seq ${seq} once`);
    moved?.add(seq);
    if (to !== "removed" && !messageStates.includes(to)) {
      throw invalidOption(`A move's target must be live, evicted, superseded or removed, not ${show(to)}`);
    }
  }
}

function tooLarge(id: string, bytes: number, limit: number): TurnkeepError {
  return new TurnkeepError(
    "MESSAGE_TOO_LARGE",
    `Message ${show(id)} has ${bytes} bytes of payload and meta, and this store holds ${limit} at most. ` +
      "Nothing was written: keep the large part elsewhere and refer to it",
    { details: { messageIds: [id], needed: bytes, limit } },
  );
}

function isSeq(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** Names what a fault is about. Called only if there is a fault: these checks run at every write. */
type Subject = () => string;

function checkSeq(what: Subject, seq: number, nextSeq: number): void {
  if (!isSeq(seq))
    throw invalidOption(`${what()} must have a positive safe integer as seq, not ${show(seq)}`);
  if (seq >= nextSeq) throw invalidOption(`${what()} has seq ${seq}, which must be below nextSeq ${nextSeq}`);
}

function checkName(what: string, value: string, maxBytes: number): void {
  const bytes = checkText(() => what, value, value?.length * mostBytes > maxBytes);
  if (bytes < 1 || bytes > maxBytes) {
    throw invalidOption(`${what} must have 1 to ${maxBytes} UTF-8 bytes, but ${show(value)} has ${bytes}`);
  }
}

/** The most UTF-8 bytes that a character of a text takes. */
const mostBytes = 3;

/** Returns the length in UTF-8 bytes, or in characters unless it `mayExceed` a limit. Does not show the value: it may be content. */
function checkText(what: Subject, value: string, mayExceed = true): number {
  if (typeof value !== "string") throw invalidOption(`${what()} must be a string, not ${typeof value}`);
  if (!mayExceed && isPlainText(value)) return value.length;
  const { bytes, fault } = scanText(value);
  if (fault !== undefined) {
    throw invalidOption(`${what()} must be well-formed Unicode without U+0000, but it contains ${fault}`);
  }
  return bytes;
}
