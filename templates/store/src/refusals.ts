import { errorCode, type Refusals, refusalOf } from "@turnkeep/core/store-kit";

export const storeName = "mariaDbStore";

/**
 * Others were in the way, and nothing of the statement has happened: a deadlock that the server has resolved, a row that
 * has changed since the transaction began to read (from MariaDB 11.6 on, at REPEATABLE READ), and a row that somebody else
 * has inserted first, which is how two beginnings of one memory meet.
 */
const raced: readonly string[] = ["ER_LOCK_DEADLOCK", "ER_CHECKREAD", "ER_DUP_ENTRY"];
const waitedTooLong = "ER_LOCK_WAIT_TIMEOUT";

/**
 * What the server answers that proves that nothing was written, by the driver's names of its errors, or by Node's codes.
 * Not in any list, and so of open outcome: a lost or killed connection, a shutdown, a fault of the disk.
 * Source: MariaDB's documentation, "MariaDB Error Codes".
 */
const refusals: Refusals = {
  missing: [[/^ER_(?:NO_SUCH_TABLE|BAD_FIELD_ERROR)\b/, "a table or column"]],
  // Nobody reached, no connection left, a limit of time or of room, other transactions in the way.
  passing:
    /^(?:ECONNREFUSED|EAI_AGAIN|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS|ER_USER_LIMIT_REACHED|ER_LOCK_|ER_CHECKREAD|ER_RECORD_FILE_FULL|ER_QUERY_INTERRUPTED|ER_MAX_PREPARED_STMT_COUNT_REACHED)/,
  refused: [
    [
      /^ER_NO_DB_ERROR\b/,
      "no database is named: write it into the url, mysql://host/database, or the config",
    ],
    [/^ER_BAD_DB_ERROR\b/, "there is no such database: mend its name in the url or config, or create it"],
    [
      /^ER_(?:ACCESS_DENIED|DBACCESS_DENIED|HOST_NOT_PRIVILEGED)/,
      "the server does not let this user in, or not into this database: check user, password and grants",
    ],
    [
      /^ER_(?:TABLEACCESS_DENIED|COLUMNACCESS_DENIED|SPECIFIC_ACCESS_DENIED)/,
      "this user lacks a right: grant it select, insert, update and delete, and for migrate() create, alter, index and references",
    ],
    [
      /^ER_(?:OPTION_PREVENTS_STATEMENT|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|READ_ONLY_MODE)\b/,
      "the server or the transaction is read-only: use the primary's address",
    ],
    [
      /^ER_NET_PACKET_TOO_LARGE\b/,
      "the server takes no message of this size: set its max_allowed_packet to 16M, as it comes, or more",
    ],
    [/^ENOTFOUND$/, "there is no such host: mend it in the url or config"],
    [
      /^(?:HANDSHAKE_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/,
      "no TLS that is trusted on both sides: set ssl in the config, { uri, ssl: { ca } }",
    ],
    [/ (?:21|22|23|42)\w{3}$/, "the database does not take this statement or value: see the cause"],
  ],
};

/** How often a call is made again at most: a deadlock is told at once, but a wait has taken the server's whole time for it. */
const mostRepeats = { raced: 20, waited: 1 };

/** Whether a call that has failed `failures` times is to be made again. Its transaction has been undone. */
export function isRepeated(cause: unknown, failures: number): boolean {
  const code = errorCode(cause);
  if (code === waitedTooLong) return failures <= mostRepeats.waited;
  return raced.includes(code) && failures <= mostRepeats.raced;
}

/** What the store throws for a fault of the driver: its name, and the server's SQLSTATE where it has one, say which. */
export function toldFault(cause: unknown): unknown {
  const { sqlState } = cause as { readonly sqlState?: unknown };
  const fault = typeof sqlState === "string" ? `${errorCode(cause)} ${sqlState}` : errorCode(cause);
  return refusalOf(storeName, refusals, cause, fault) ?? cause;
}

/** Whether the server has answered with it, so that its connection can go on. */
export function isFromServer(cause: unknown): boolean {
  const { sqlState, fatal } = cause as { readonly sqlState?: unknown; readonly fatal?: unknown };
  return typeof sqlState === "string" && fatal !== true;
}
