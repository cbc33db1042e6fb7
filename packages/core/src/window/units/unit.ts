import type { MemorySettings } from "../../memory-settings.ts";
import type { Live } from "../../steps/live.ts";
import type { Step } from "../../steps/step.ts";
import type { WindowOverflow, WindowUnit } from "../../window-options.ts";
import type { Limits } from "../limits.ts";
import type { PlanOptions } from "../plan.ts";
import type { WindowPlan } from "../room.ts";

/** Everything that depends on what a window evicts at once: an option's text stands for one of these. */
export interface EvictionUnit {
  readonly name: WindowUnit;
  /** What holds where the application says nothing. */
  readonly defaults: {
    /** `undefined`: as the limits suggest. */
    readonly target: number | undefined;
    readonly overflow: WindowOverflow;
    readonly systemFirst: boolean;
    readonly repair: boolean;
  };
  /** Options of a window that this unit cannot have, each with the reason. */
  readonly refuses: { readonly [Option in "cacheTtlMs" | "summarize"]?: string };
  /** The roles that a message in place of others may have. */
  readonly replacementRoles: readonly ("user" | "assistant")[];
  /**
   * Whether system messages stay where they were added, and may be several: `set` takes them as they are given, and a new
   * one takes the place of the first. Otherwise there is one, the newest.
   */
  readonly keepsSystems: boolean;
  /** Whether the window evicts before each message is added too, not only after the last. */
  readonly evictsBeforeEach: boolean;
  /** Whether the newest is evicted only when nothing else can make room. */
  readonly sparesNewest: boolean;
  /** Whether a step begins a group of steps that leave together. */
  beginsGroup<M>(step: Step<M>): boolean;
  /** Whether a view may start with this step, behind the system message. Absent: it may start with any. */
  opensView?<M>(step: Step<M>): boolean;
  /** With `overflow: "evict"`: whether what never leaves is shown even if it does not fit. */
  showsWhatStays<M>(live: Live<M>): boolean;
  /** Decides what leaves. */
  plan<M>(live: Live<M>, settings: MemorySettings<M>, limits: Limits, options: PlanOptions): WindowPlan<M>;
}
