/**
 * Turnkeep memories for Google's ADK: a session service, a plugin for its runners, and the format of its events.
 *
 * @module
 */
export { adkFormat } from "./format.ts";
export { TurnkeepPlugin, type TurnkeepPluginOptions } from "./plugin.ts";
export { TurnkeepSessionService, type TurnkeepSessionServiceOptions } from "./session-service.ts";
