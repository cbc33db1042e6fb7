export type { EncodingName } from "./encoding.ts";
export { estimateMedia, type MediaPiece } from "./media.ts";
export { type MediaRule, type TokenCounterOptions, textCounter, tokenCounter } from "./token-counter.ts";
