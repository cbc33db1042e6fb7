import { errorCode, type Refusals, refusalOf, TurnkeepError } from "@turnkeep/core/store-kit";

export const storeName = "postgresStore";

/**
 * Serialization failure and deadlock. Nothing of the statement has happened. If the default isolation level is repeatable
 * read or serializable, a statement that met a concurrent change is refused so.
 */
const raced: readonly string[] = ["40001", "40P01"];

/**
 * Errors about a statement's name, before anything has happened: no statement has it, another has it, or its tables
 * have changed. Behind a pooler that moves clients between connections, such as PgBouncer before 1.21, a name given on
 * one connection may be unknown, or taken, on the next.
 */
const misnamed: readonly string[] = ["26000", "42P05", "0A000"];

export const metOthers = (cause: unknown): boolean => raced.includes(errorCode(cause));
export const isMisnamed = (cause: unknown): boolean => misnamed.includes(errorCode(cause));
/** The transaction had failed before. */
export const hasFailedBefore = (cause: unknown): boolean => errorCode(cause) === "25P02";

/**
 * What the database answers that proves that nothing was written, by beginnings of SQLSTATEs, or of Node's codes. Whatever
 * ends a statement as an `ERROR` undoes its transaction, and what ends a log-in comes before any statement.
 *
 * Not in any list, and so of open outcome: a lost connection (08), a shutdown (57P01, 57P02: Postgres may have committed
 * before it says so), an unknown completion (40003), faults of the system (58, XX), codes that are not Postgres's own.
 * Source: PostgreSQL's documentation, "PostgreSQL Error Codes" and "Message Flow"; for 57P01, `SyncRepWaitForLSN`.
 */
const refusals: Refusals = {
  // Nobody reached, nothing free, a lock or a limit of time, other transactions in the way.
  passing: /^(?:ECONNREFUSED|EAI_AGAIN|25P04|53|55|57014|57P03|40001|40P01)/,
  refused: [
    [
      /^42501/,
      "this role lacks a right, or a policy (row-level security) forbids the row, as where a memory that the role may not see has the same id: grant what the README lists under Permissions, or mend the policy",
    ],
    [/^22012/, "a policy (row-level security) forbids this role to change or delete what it sees"],
    [/^25006/, "the server or the transaction is read-only: use the primary's address"],
    [/^25P02/, "the transaction of the given client has failed before: roll it back"],
    [/^3D000/, "there is no such database: mend its name in the url or config, or create it"],
    [
      /^28/,
      "the server does not let this user in: check user and password, and the server's pg_hba.conf, which may want TLS",
    ],
    [/^ENOTFOUND/, "there is no such host: mend it in the url or config"],
    [
      /^(?:DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/,
      "the server's certificate is not trusted: give that of its authority, config: { connectionString, ssl: { ca } }",
    ],
    [
      /^(?:0A|21|22|23|25|26|3F|42|44|54|P0)/,
      "the database does not take this statement or value: see the cause",
    ],
  ],
};

/** The error for what a driver threw if it proves that nothing was written; `place` is where the tables are. */
export function refusedBy(cause: unknown, place: string): TurnkeepError | undefined {
  // Undefined table and column.
  const missing: Refusals["missing"] = [[/^(?:42P01|42703)/, `a table or column of ${place}`]];
  return refusalOf(storeName, { missing, ...refusals }, cause, errorCode(cause) + objectOf(cause));
}

/** What Postgres says in English of a missing right, or a policy, and whose: a name and never content. */
function objectOf(cause: unknown): string {
  const { message = "" } = cause as { message?: string };
  const [said] =
    /^permission denied for \w+ \S+$|row-level security policy.* for table "[^"]+"$/.exec(message) ?? [];
  return said === undefined ? "" : `: ${said}`;
}

/** `VERSION_CONFLICT` that ended a transaction of the caller's, in which nothing can be sent again. */
export function failedTransaction(cause: unknown): TurnkeepError {
  const message = `${storeName}: somebody else wrote at the same time (${errorCode(cause)}), so the given client's transaction has failed and nothing of it was changed: roll it back and run it again`;
  return new TurnkeepError("VERSION_CONFLICT", message, { cause });
}

/** The database shows what it is to a role that a policy keeps from changing or deleting it. */
export function hiddenError(what: string): TurnkeepError {
  const message = `${storeName}: ${what} cannot be changed or deleted by this role, though it sees it: mend the database's policies (row-level security)`;
  return new TurnkeepError("STORE_REFUSED", message);
}
