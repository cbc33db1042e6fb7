import type { MemoryEvent } from "./memory-events.ts";
import type { SystemMessages } from "./message-format.ts";
import type { Processor } from "./processors/processor.ts";
import type { ProviderProfile } from "./provider-profile.ts";
import type { Item, ItemReader } from "./steps/item.ts";
import type { Step } from "./steps/step.ts";
import type { ChatMemoryStore } from "./store-contract.ts";
import type { Cost } from "./window/room.ts";
import type { WindowSettings } from "./window/settings.ts";

/** What memories ask of a store. */
export type CodedStore = Pick<
  ChatMemoryStore,
  "capabilities" | "getMessages" | "updateMessages" | "deleteMessages" | "getHistory" | "listMemories"
> & {
  /** Whether reads and writes are done at once, as in this process. */
  neverWaits(): boolean;
};

/** What the options of a memory come to: checked, complete, and never changed. */
export interface MemorySettings<M> {
  readonly memoryId: string;
  readonly store: CodedStore;
  /** Whether the memory made the store, so that nobody else has it. */
  readonly isOwn: boolean;
  readonly owner: string | undefined;
  readonly reader: ItemReader<M>;
  readonly window: WindowSettings<M>;
  readonly systemFirst: boolean;
  readonly systemMessages: SystemMessages;
  /** Whether a message goes before all others, wherever it was added. */
  readonly isFront: (item: Pick<Item<M>, "role" | "meta">) => boolean;
  readonly repair: boolean;
  /** What repair adds to an unsettled step; repair depends on whether the step is the last. */
  readonly addedByRepair: (step: Step<M>, isLast: boolean) => Cost;
  readonly profile: ProviderProfile | undefined;
  readonly processors: readonly Processor<M>[];
  readonly keepsHistory: boolean;
  readonly timeoutMs: number;
  /** Whether what the store could not do now is repeated. */
  readonly retry: boolean;
  /** How long the memory lives after each write; `undefined`: as long as the store says. */
  readonly ttlMs: number | null | undefined;
  readonly onEvent: ((event: MemoryEvent) => void) | undefined;
}
