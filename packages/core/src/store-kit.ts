/**
 * What every store shares, ours and third parties': checks of arguments and options, normal forms of updates and
 * queries, how driver calls begin and end, and errors. A store that begins each method with these passes the
 * conformance cases on arguments. The option checks also serve anything else built on core: counters, formats, loops.
 *
 * @module
 */
export { onAbort, throwIfAborted } from "./abort.ts";
export { CallQueue } from "./call-queue.ts";
export { invalidOption, isTurnkeepError, TurnkeepError } from "./errors.ts";
export {
  checkInteger,
  checkObject,
  checkTimeout,
  checkUnlessInstance,
  kindOf,
  wrongOption,
} from "./option-checks.ts";
export {
  type Check,
  callback,
  type Fields,
  integer,
  type OptionalField,
  oneOf,
  optional,
  type RequiredField,
  required,
  such,
  type Taken,
  takeOptions,
  truth,
} from "./option-fields.ts";
export { callDriver } from "./stores/call-driver.ts";
export { checkAgainstStored, isInPlace, type StoredRows, storedRows } from "./stores/check-stored.ts";
export {
  checkMemoryId,
  checkMessageId,
  checkOptionText,
  checkOwner,
  checkTtl,
  checkUpdate,
  type OptionTextRules,
} from "./stores/checks.ts";
export {
  type ConnectionOptions,
  type ConnectionRules,
  checkConnection,
  parseUrl,
} from "./stores/connection-options.ts";
export {
  copyUpdate,
  memorySnapshot,
  type StoredHead,
  unreadableMessage,
  withState,
} from "./stores/copies.ts";
export {
  type DefinedStore,
  defineStore,
  type StoreConnection,
  type StoreDefinition,
  type StoreMethods,
} from "./stores/define-store.ts";
export { type DriverCalls, driverCalls } from "./stores/driver-calls.ts";
export { type FoldedUpdate, foldUpdate, isPlain, namedSeqs } from "./stores/fold-update.ts";
export { importError } from "./stores/import-driver.ts";
export { type Lifecycle, lifecycle } from "./stores/lifecycle.ts";
export {
  decodeCursor,
  encodeCursor,
  type ListedMemory,
  listPage,
  type NormalHistoryQuery,
  type NormalListQuery,
  normalizeHistoryQuery,
  normalizeListQuery,
} from "./stores/queries.ts";
export { runsOf } from "./stores/runs.ts";
export {
  closedError,
  conflictError,
  corruptError,
  errorCode,
  laterVersionError,
  notReadyError,
  redactUrl,
  refusedError,
  storeError,
  unsupportedError,
} from "./stores/store-errors.ts";
export { quoted, show, utf8Length } from "./stores/text.ts";
