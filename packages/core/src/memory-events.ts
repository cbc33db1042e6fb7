import type { SummarizeFailure } from "./window-options.ts";

/** What a memory reports: ids, counts and reasons, never content. */
export type MemoryEvent =
  | {
      readonly type: "evicted";
      readonly memoryId: string;
      readonly messageIds: readonly string[];
      readonly reason: "window" | "compact" | "shrink";
    }
  | {
      readonly type: "summarized";
      readonly memoryId: string;
      /** The messages that left memory by this summary. It stands for them and for all that the previous one did. */
      readonly messageIds: readonly string[];
      readonly summaryId: string;
    }
  | {
      readonly type: "summarize-failed";
      readonly memoryId: string;
      /** The messages that were to be summarized. */
      readonly messageIds: readonly string[];
      readonly reason: SummarizeFailure;
    }
  | {
      readonly type: "conflict";
      readonly memoryId: string;
      /** 1 for the first conflict of a call. */
      readonly attempt: number;
    }
  | {
      readonly type: "repaired";
      readonly memoryId: string;
      /** The calls without a result that got one in the view: "interrupted", or that the user has not approved it. */
      readonly interruptedCalls: readonly string[];
      /** The messages from which something was left out: results without a call, late or repeated results. */
      readonly leftOut: readonly string[];
      /** The rules of the profile that required a change. */
      readonly rules: readonly string[];
    }
  | {
      readonly type: "calibrated";
      readonly memoryId: string;
      /** What the counter counts for the view. */
      readonly counted: number;
      /** What the provider counted for it. */
      readonly reported: number;
    }
  | { readonly type: "warning"; readonly memoryId: string; readonly code: string; readonly message: string };
