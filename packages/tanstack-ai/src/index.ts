/**
 * Turnkeep memories for TanStack AI: a middleware for `chat`, and the format of its messages.
 *
 * @module
 */
export { tanstackFormat } from "./format.ts";
export { type TurnkeepMiddlewareOptions, turnkeepMiddleware } from "./middleware.ts";
