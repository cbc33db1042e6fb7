import type { Processor } from "../processors/processor.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { ItemReader } from "../steps/item.ts";
import type { PlanPolicy } from "../window/plan.ts";

/** All that decides what a model is shown of one memory, with every default in place. */
export interface ViewPolicy<M> extends PlanPolicy<M> {
  readonly memoryId: string;
  readonly reader: ItemReader<M>;
  readonly profile: ProviderProfile | undefined;
  readonly processors: readonly Processor<M>[];
}
