export type { ReplayOptions } from "./replay/options.ts";
export type { BadLine } from "./replay/read-conversations.ts";
export { type ReplayReport, replay } from "./replay/replay.ts";
export type { CheckReport, PartReport, ViewFigures } from "./replay/report.ts";
