/**
 * What every store shares, ours and third parties'. `defineStore` makes a store of what only its database knows: it checks
 * arguments, copies and folds updates, reads and writes cursors, and ends calls. Beside it stand what its methods work with,
 * the connection to a database, options as tables, and the errors. The last part serves anything else that is built on core: counters, formats,
 * loops.
 *
 * @module
 */

export { abortSignal, onAbort, throwIfAborted } from "./abort.ts";
export { chatMemories, memoryOf } from "./bridge.ts";
export { CallQueue } from "./call-queue.ts";
export { despiteConflicts } from "./despite-conflicts.ts";
export {
  conflictError,
  corruptError,
  errorCode,
  invalidOption,
  isTurnkeepError,
  laterVersionError,
  memoryFullError,
  notReadyError,
  quoted,
  redactUrl,
  refusedError,
  show,
  storeError,
  TurnkeepError,
} from "./errors.ts";
export {
  callback,
  integer,
  lease,
  oneOf,
  such,
  timeout,
  wrongOption,
} from "./option-checks.ts";
export { type Fields, optional, takeMembers, takeOptions } from "./option-fields.ts";
export { callDriver } from "./stores/call-driver.ts";
export { checkAgainstStored, isInPlace, type StoredRows, storedRows } from "./stores/check-stored.ts";
export { nameText, ttl } from "./stores/checks.ts";
export { type ConnectionOptions, parseUrl, takeStoreOptions } from "./stores/connection-options.ts";
export { memorySnapshot, unreadableMessage, withState } from "./stores/copies.ts";
export {
  defineStore,
  type StoreConnection,
} from "./stores/define-store.ts";
export { driverCalls } from "./stores/driver-calls.ts";
export { expiryOf, type FoldedUpdate, foldUpdate, isPlain, namedSeqs } from "./stores/fold-update.ts";
export { importError } from "./stores/import-driver.ts";
export { type OwnClient, ownClient } from "./stores/own-client.ts";
export type { ListedMemory, ListPositions, NormalHistoryQuery, NormalListQuery } from "./stores/queries.ts";
export { type Refusals, refusalOf } from "./stores/refusals.ts";
export { runsOf } from "./stores/runs.ts";
export { utf8Length } from "./stores/text.ts";
export { kindOf } from "./values.ts";
