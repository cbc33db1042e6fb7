import type { Processor } from "../processors/processor.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { WindowPolicy } from "../window/policy.ts";
import type { Cost } from "../window/room.ts";
import type { CodedStore } from "./coded-store.ts";
import type { Item, ItemReader } from "./item.ts";
import type { Step } from "./step.ts";

/** All that decides how one memory works, with every default in place. */
export interface Policy<M> {
  readonly memoryId: string;
  readonly store: CodedStore;
  readonly reader: ItemReader<M>;
  readonly window: WindowPolicy<M>;
  readonly systemFirst: boolean;
  readonly repair: boolean;
  readonly profile: ProviderProfile | undefined;
  readonly processors: readonly Processor<M>[];
  /** What repair adds to an unsettled step, which may be the last one. */
  readonly addedByRepair: (step: Step<M>, isLast: boolean) => Cost;
}

/** Whether a message stands before all others, wherever it was added. */
export function frontRule<M>(window: WindowPolicy<M>, systemFirst: boolean): (item: Item<M>) => boolean {
  const always = systemFirst && window.unit !== "message";
  return (item) => item.role === "system" && (always || item.meta.front === true);
}
