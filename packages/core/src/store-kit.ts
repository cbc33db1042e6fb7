/**
 * What every store shares, ours and third parties': the checks of arguments that the contract asks for, the final form
 * of an update and of queries, and the errors. A store that begins each method with these passes the conformance
 * cases on arguments.
 *
 * @module
 */
export { isTurnkeepError, TurnkeepError } from "./errors.ts";
export { callDriver } from "./stores/call-driver.ts";
export { checkAgainstStored, type StoredRows } from "./stores/check-stored.ts";
export { checkMemoryId, checkMessageId, checkOwner, checkTtl, checkUpdate } from "./stores/checks.ts";
export { type ConnectionRules, checkConnection } from "./stores/connection-options.ts";
export { copyUpdate } from "./stores/copies.ts";
export { type DriverCalls, driverCalls } from "./stores/driver-calls.ts";
export { type FoldedUpdate, foldUpdate } from "./stores/fold-update.ts";
export {
  decodeCursor,
  encodeCursor,
  type NormalHistoryQuery,
  type NormalListQuery,
  normalizeHistoryQuery,
  normalizeListQuery,
} from "./stores/queries.ts";
export {
  closedError,
  conflictError,
  corruptError,
  invalidOption,
  notReadyError,
  redactUrl,
  storeError,
  throwIfAborted,
  unsupportedError,
} from "./stores/store-errors.ts";
export { show, utf8Length } from "./stores/text.ts";
