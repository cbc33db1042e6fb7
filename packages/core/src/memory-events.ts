import type { SummarizeFailure } from "./window-options.ts";

/**
 * What a memory reports: ids, counts and reasons, never content. What a change has done is told once the change is known to
 * be stored, also if that is found out only after its answer was lost, and once for each: an application can keep a search
 * or a sidebar by it (`history({ ids })` reads the messages). Where an answer was lost and somebody else may have taken away
 * or brought back the same meanwhile, both tell it. Derived messages are not told of: nobody said them.
 */
export type MemoryEvent =
  | {
      /**
       * `added`: new messages. `replaced`: `put` in the place of others, under the same ids, live or not. `removed`: deleted by
       * `remove` or `prune`. `rewound`: superseded, by `rewind`, `set`, `restore` or another prompt; they stay in history.
       * `restored`: no longer so, by `restore`.
       */
      readonly type: "added" | "replaced" | "removed" | "rewound" | "restored";
      readonly memoryId: string;
      readonly messageIds: readonly string[];
    }
  | {
      /** `clear` or `erase` has deleted the memory with its history. */
      readonly type: "cleared" | "erased";
      readonly memoryId: string;
    }
  | {
      /** One change was stored, after the events of what it did. */
      readonly type: "committed";
      readonly memoryId: string;
      /** From when its turn came until it was known to be stored. */
      readonly durationMs: number;
      /** 1, or more where others had written or the store was away. */
      readonly attempts: number;
    }
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
