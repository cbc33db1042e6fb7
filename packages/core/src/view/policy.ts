import type { Processor } from "../processors/processor.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { ItemReader } from "../steps/item.ts";
import type { PlanPolicy } from "../window/plan.ts";

/** Everything that decides what a model is shown of one memory, with all defaults filled in. */
export interface ViewPolicy<M> extends PlanPolicy<M> {
  readonly memoryId: string;
  readonly reader: ItemReader<M>;
  readonly profile: ProviderProfile | undefined;
  readonly processors: readonly Processor<M>[];
}
