import {
  errorCode,
  type Refusals,
  refusalOf,
  refusedError,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";

export const storeName = "redisStore";

/** By the first word of the server's answer, or by the system's. */
const refusals: Refusals = {
  // They pass by themselves, or when the server is mended. A script meets them before it writes. In a failover a master
  // becomes a replica (`READONLY`), and the next connection leads to the new one.
  passing: /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|READONLY)$/,
  refused: [
    [/^NOAUTH$/, "the server wants a password: give the connection a user and a password"],
    [/^WRONGPASS$/, "the server refuses the user or the password: mend the connection's"],
    [/^NOPERM$/, "the user lacks a right: grant those that the README lists, on the prefix's keys"],
    [/^OOM$/, "the server's memory is full: raise its maxmemory, or make room"],
    [/^MOVED$/, "the server belongs to a cluster: give a client for clusters, as new Cluster([…])"],
    [/^ENOTFOUND$/, "the host is unknown: mend the address"],
  ],
};

/** What the store throws for a call that has failed: one that says so, if nothing was written for certain. */
export function refusalOr(cause: unknown): unknown {
  return refusalOf(storeName, refusals, cause) ?? cause;
}

/** If the server refused the connection's database, because of its number or for this user, an error that says so. */
export function refusedDatabase(fault: unknown): TurnkeepError | undefined {
  if (!isReply(fault) || (fault as { command?: { name?: string } }).command?.name !== "select")
    return undefined;
  const why = "the server refuses the database: mend its number, or grant the user select";
  return refusedError(storeName, why, withoutContent(fault));
}

/** Drivers attach what they sent, or quote it, with content and passwords. A server's refusal begins with its code. */
export function withoutContent(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  if ("command" in cause) delete cause.command;
  const [said = ""] = cause.message.split(", command was: ");
  const error = said === cause.message ? cause : new Error(said);
  const code = codeOf(error);
  return code === "" ? error : Object.assign(error, { code });
}

/**
 * `READONLY`, `NOSCRIPT` and the like, `""` if the message begins with no such word. Before Redis 7, and in servers that
 * answer as those did, a command that a script calls is refused as `ERR Error running script (…): … -READONLY …`. What a
 * script lacks a right for has no code of its own.
 */
export function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  // What `ioredis` says once it has followed a slot that moves, or waited for it, often enough.
  if (/^Too many Cluster redirections\. Last error: ReplyError: (TRYAGAIN|ASK|MOVED) /.test(cause.message)) {
    return "TRYAGAIN";
  }
  if (/^ERR (ACL failure in script|The user executing the script can't)/.test(cause.message)) return "NOPERM";
  return /^(?:ERR Error running script .*? -)?([A-Z]{3,})(?= |$)/.exec(cause.message)?.[1] ?? "";
}

/** Whether the server answered, if only to refuse. */
export function isReply(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "ReplyError";
}

/** Whether the connection that a call was sent on had died, in the words of `ioredis` or `node-redis`. */
export function isBroken(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (["ECONNRESET", "EPIPE"].includes(errorCode(cause))) return true;
  return /^(Connection is closed|Socket closed|Disconnects client|Reached the max retries per request)/.test(
    cause.message,
  );
}

/** Whether `ioredis` gave up waiting for an answer. */
export function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && cause.message === "Command timed out";
}
