/**
 * Models of the AI SDK, major 6 or 7, for an assistant.
 *
 * @module
 */
export { type AiSdkOptions, aiSdkModel } from "./ai-sdk/model.ts";
