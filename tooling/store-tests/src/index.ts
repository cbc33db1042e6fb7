export { callsOf, failure, said } from "./calls.ts";
export { type Fault, findFault } from "./checker.ts";
export { describeUnanswered, type OpenStore } from "./connections.ts";
export { describeFaults } from "./faults.ts";
export { describeLoad } from "./load.ts";
export { describeOptions, type StoreFactory } from "./options.ts";
export type { DurableServer, StoreTarget } from "./target.ts";
export { appendUntilDone, message, messages, update } from "./updates.ts";
