/**
 * The conformance kit: cases that any store of chat memories runs to show that it keeps the contract.
 *
 * @module
 */

export { formatBadge } from "./badge.ts";
export {
  type CapabilityRequirement,
  type ConformanceCase,
  type ConformanceGroup,
  conformanceGroups,
  type HarnessRequirement,
} from "./case.ts";
export { cases } from "./cases/index.ts";
export type { ConformanceContext } from "./context.ts";
export { checkFormat } from "./format/check-format.ts";
export type {
  ConformanceHarness,
  CountedClient,
  ElsewhereModule,
  FaultOptions,
  GivenClient,
  HarnessCreateOptions,
  UnreachableClient,
} from "./harness.ts";
export { type Counting, counting, type Failing, failing } from "./harness-clients.ts";
export { checkKeyValue } from "./key-value/check-key-value.ts";
export type { KeyValueHooks } from "./key-value/hooks.ts";
export {
  type ConformanceCounts,
  type ConformanceReport,
  type ConformanceResult,
  formatReport,
} from "./report.ts";
export { type ConformanceOptions, type RunOptions, runConformance } from "./run.ts";
export { ConformanceError, type RepeatOptions } from "./support/expect.ts";
export type { Change, TestMemory } from "./support/memory.ts";
export type { MemoryModel } from "./support/model.ts";
