/**
 * Items of the OpenAI Agents SDK in Turnkeep memories, and a session over them.
 *
 * @module
 */
export { agentsFormat } from "./format.ts";
export { TurnkeepSession, type TurnkeepSessionOptions } from "./session.ts";
