export { type BoundName, boundCounter } from "./bound-counter.ts";
export type { EncodingName } from "./encoding.ts";
export { estimateMedia, type MediaPiece } from "./media.ts";
export {
  type EncodingOrModel,
  type MediaRule,
  type TokenCounterOptions,
  textCounter,
  tokenCounter,
} from "./token-counter.ts";
export { countTools, type FunctionDefinition, type ToolDefinition } from "./tools.ts";
