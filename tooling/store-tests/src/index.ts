export { appendUntilDone, message, messages, update } from "./updates.ts";
