/**
 * Processors shape the view between memory and model. They work with messages of every format, either in a memory's
 * `processors` or on their own.
 *
 * @module
 */
export { joinNeighbours } from "./format/join-neighbours.ts";
export { type ApplyOptions, applyProcessors } from "./processors/apply-processors.ts";
export { orderToolResults } from "./processors/order-tool-results.ts";
export type { AnyProcessor, Processor, ProcessorContext } from "./processors/processor.ts";
export { type RedactOptions, redact } from "./processors/redact.ts";
export { processorOf } from "./processors/run-processor.ts";
export { type StripMediaOptions, stripMedia } from "./processors/strip-media.ts";
export { type StripReasoningOptions, stripReasoning } from "./processors/strip-reasoning.ts";
export { type TokenLimiterOptions, tokenLimiter } from "./processors/token-limiter.ts";
export { type ToolCallFilterOptions, toolCallFilter } from "./processors/tool-call-filter.ts";
export { type TruncateToolResultsOptions, truncateToolResults } from "./processors/truncate-tool-results.ts";
export { withCallIds } from "./steps/live.ts";
export { type AskedCall, CallsById, openCalls } from "./steps/pairing.ts";
