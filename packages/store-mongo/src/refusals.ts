import {
  errorCode,
  isTurnkeepError,
  type Refusals,
  refusalOf,
  refusedError,
  TurnkeepError,
} from "@turnkeep/core/store-kit";
import type { MongoServerSelectionError } from "mongodb";

export const storeName = "mongoStore";

/** By the error's code. One that stands for several refusals has the words behind it that tell them apart. */
const refusals: Refusals = {
  missing: [[/^2 hint provided$/, "an index of the collections"]],
  refused: [
    [
      /^13$|^8000 not/,
      "this user may not do this (see the cause): grant it the role readWrite on the database",
    ],
    [
      /^18$|^8000 bad auth$/,
      "the server does not accept this user or its password: check both, and authSource",
    ],
    [/^121$/, "a validator of the collection refuses what the store keeps: remove it"],
    [
      // The last one of the driver, which finds a command too large to send.
      /^(?:10334|17419|17420|ERR_OUT_OF_RANGE)$/,
      "the memory's document would exceed MongoDB's 16 MiB: let a window keep fewer messages live, or give them shorter ids",
    ],
    [/^8000 quota$/, "the cluster has no room left: enlarge it, or delete something"],
  ],
};

/** Atlas has one code for many refusals, and the server one for hints and other bad values. */
const several = new Set(["8000", "2"]);
const tellApart = /bad auth|not authorized|not allowed|quota|hint provided/i;

const notPrimary = new Set(["10107", "13435"]);

/** Throws what the store tells of an error of a command. */
export function explained(cause: unknown): never {
  const code = errorCode(cause);
  const [words] = (several.has(code) && tellApart.exec(String(cause))) || [];
  const error = withoutContent(cause);
  if (notPrimary.has(code)) throw notPrimaryError(error);
  throw refusalOf(storeName, refusals, error, words ? `${code} ${words.toLowerCase()}` : code) ?? error;
}

/** Not certain: a driver that repeats writes may have been heard the first time. */
function notPrimaryError(cause: unknown): TurnkeepError {
  const why =
    "the server is not the primary, and has written nothing of what it refused: after a failover a repeat finds the new one, " +
    "and directConnection must lead to the primary. If the driver sent a write twice, read before you repeat it";
  return new TurnkeepError("STORE_UNAVAILABLE", `${storeName}: ${why}`, { cause });
}

/** Throws what the store tells of a client that could not connect: nothing has been sent. */
export function unconnected(cause: unknown): never {
  if (!isUnknownHost(cause)) throw cause;
  throw refusedError(storeName, "no host of the address is known: check it", cause);
}

function isUnknownHost(cause: unknown): boolean {
  const { reason } = cause as Partial<MongoServerSelectionError>;
  const servers = [...(reason?.servers.values() ?? [])].map(({ error }) => error?.cause);
  return (servers.length > 0 ? servers : [cause]).every((one) => errorCode(one) === "ENOTFOUND");
}

/** Whether a command met a connection that had broken. The driver lets the error of a socket through, and repeats nothing then. */
export function isBroken(cause: unknown): boolean {
  const { name } = cause as { name?: unknown };
  return /^(MongoNetwork|MongoPoolCleared|PoolClearedOnNetwork)Error$|^(ECONNRESET|EPIPE)$/.test(
    errorCode(cause) || String(name),
  );
}

const timeOuts = new Set<unknown>(["MongoNetworkTimeoutError", "TimeoutError"]);

/** Whether a call ended because nothing was heard: by the driver's time-out, or by a signal that tells of one. */
export function isUnanswered(error: unknown, signal: AbortSignal | undefined): boolean {
  const cause = signal?.aborted ? signal.reason : (error as TurnkeepError).cause;
  return timeOuts.has(cause?.name) || isTurnkeepError(cause, "STORE_UNAVAILABLE");
}

/**
 * The driver attaches what it sent, with content, to a bulk write error. The server quotes a command that a user may
 * not run, and documents that its own validator refuses.
 */
function withoutContent(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const isBulk = "writeErrors" in cause || "result" in cause;
  if (!isBulk && cause.name !== "MongoServerError") return cause;
  const message = isBulk ? bulkMessage(cause) : cause.message.replace(/\s*\{.*$/s, "");
  const { code, codeName } = cause as { code?: unknown; codeName?: unknown };
  return Object.assign(new Error(message), { name: cause.name, code, codeName });
}

/** A write concern error also has a result, whatever the command was, which does not say what was written. */
function bulkMessage({ name }: Error): string {
  return name === "MongoWriteConcernError"
    ? "MongoDB wrote, and did not confirm that a majority has it"
    : "MongoDB refused to insert messages";
}
