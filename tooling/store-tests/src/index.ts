export { type Fault, findFault } from "./checker.ts";
export { describeFaults } from "./faults.ts";
export { describeLoad } from "./load.ts";
export type { DurableServer, StoreTarget } from "./target.ts";
export { appendUntilDone, message, messages, update } from "./updates.ts";
