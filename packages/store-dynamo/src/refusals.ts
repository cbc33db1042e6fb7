/** What the errors of DynamoDB and its driver mean: what was certainly not done, and what may have been. */
import {
  errorCode,
  invalidOption,
  notReadyError,
  type Refusals,
  refusalOf,
  show,
  TurnkeepError,
} from "@turnkeep/core/store-kit";

export const storeName = "dynamoStore";

/** The driver's codes, of its errors without `Exception`. */
const throttled = new Set([
  "ProvisionedThroughputExceeded",
  "Throttling",
  "ThrottlingError",
  "RequestLimitExceeded",
  // The same transaction, sent before, is still running.
  "TransactionInProgress",
]);

/** Errors of a request that was never sent. */
const unsent = new Set(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "CredentialsProviderError"]);

/** What a repeat does not change, and what to mend. `asked` names the operation and the table. */
function refused(asked: string): Refusals["refused"] {
  return [
    [/^AccessDenied/, `these credentials may not ${asked}: allow them what the README lists`],
    [
      /Token|Signature|UnrecognizedClient|CredentialsProvider/,
      "DynamoDB needs other credentials than these: check them, the region and this machine's clock",
    ],
    [/^ENOTFOUND$/, "the host of the database does not exist: check the url or the region"],
    [/^(?:Validation|ItemCollectionSize)/, `DynamoDB does not take ${asked}: see the cause`],
  ];
}

/** The error for a request whose keys the table does not have. */
const otherKeys =
  /key (?:element|schema|condition)|missing the key|mismatch for key|(?:conditions on the|required) keys/i;

interface Reason {
  readonly Code?: string;
  Item?: unknown;
}

export function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "";
}

/** Why each action of a transaction was not done. */
function reasonsOf(cause: unknown): readonly Reason[] {
  return (cause as { CancellationReasons?: readonly Reason[] } | undefined)?.CancellationReasons ?? [];
}

/** Why a call failed: a code for each action of a transaction, or the one of another call. */
export function codesOf(cause: unknown): readonly string[] {
  const name = nameOf(cause);
  if (name !== "TransactionCanceledException") return [name.replace(/Exception$/, "")];
  return reasonsOf(cause).map(({ Code = "None" }) => Code);
}

export function isThrottled(codes: readonly string[]): boolean {
  return codes.some((code) => throttled.has(code));
}

/** Whether a request was sent, and nobody answered. */
export function isUnanswered(cause: unknown): boolean {
  return statusOf(cause) === undefined && !unsent.has(errorCode(cause)) && !unsent.has(nameOf(cause));
}

/** Whether a write that failed so may have taken place all the same. */
export function isOpen(cause: unknown): boolean {
  const status = statusOf(cause) ?? 0;
  return isUnanswered(cause) || status >= 500 || status === 408;
}

function statusOf(cause: unknown): number | undefined {
  return (cause as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
}

/**
 * The error for a call that failed, after attempts of which one may have taken place if it is `open`. The driver's error
 * gets its name as code (or the first reason for which a transaction was refused), and loses stored data, which it may
 * quote. Errors that the user of the store can fix are put in our words.
 */
export function explained(cause: unknown, open: boolean, operation: string, tableName: string): unknown {
  const reasons = reasonsOf(cause);
  for (const reason of reasons) delete reason.Item;
  const name = nameOf(cause);
  const { message = "" } = cause instanceof Error ? cause : {};
  if (message === "Region is missing") {
    return invalidOption(`${storeName}: set the region, by config: { region } or the variable AWS_REGION`);
  }
  const table = `the table ${show(tableName)}`;
  if (name === "ResourceNotFoundException") return notReadyError(storeName, table, cause);
  if (name === "ValidationException" && otherKeys.test(message)) {
    return notReadyError(storeName, `${table} with these names of partition and sort key`, cause);
  }
  // Of a transaction that was refused, the reasons say why.
  const { Code: code = name } = reasons.find(({ Code }) => Code !== "None") ?? {};
  if (cause instanceof Error && !("code" in cause) && name !== "Error") Object.assign(cause, { code });
  if (open) return cause;
  const asked = `${operation} on ${table}`;
  const isNow = `DynamoDB cannot do ${asked} now (${errorCode(cause)}; see the cause), and has not done it: repeat the call`;
  return (
    refusalOf(storeName, { refused: refused(asked) }, cause) ??
    new TurnkeepError("STORE_UNAVAILABLE", `${storeName}: ${isNow}`, { cause })
  );
}
