import type { MemoryEvent } from "./memory-events.ts";
import type { ViewOptions } from "./memory-view.ts";
import type { SystemMessages } from "./message-format.ts";
import type { Processor } from "./processors/processor.ts";
import type { ProviderProfile } from "./provider-profile.ts";
import type { ChatMemoryStore } from "./store-contract.ts";
import type { WindowOptions } from "./window-options.ts";

/** The policy of a memory: everything but where it is kept. */
export interface MemoryPolicy<M> {
  /** Without a window everything stays in memory. */
  readonly window?: WindowOptions<M> | undefined;
  /** `false`: what leaves memory is deleted instead of kept. Default `true`. */
  readonly history?: boolean | undefined;
  /** Whether the system message stands first. Default `true`; `false` with unit `message`. */
  readonly systemFirst?: boolean | undefined;
  /**
   * What a later, different system message does. `one`: it takes the prompt's place, with a `warning` event of the code
   * `system-replaced`. `positioned`: it stays where it was said, belongs to the step behind it and leaves with it; the one
   * that the memory begins with is the prompt, stands in front and is never evicted. Under both, one without text that
   * sets what holds from there on (an effort, tools) never takes the prompt's place, and stays while it is in force.
   * Default: as the format says; `one` for `modelMessageFormat`, with unit `message` and with `systemFirst: false`, which
   * cannot have the other.
   */
  readonly systemMessages?: SystemMessages | undefined;
  /** Run over the view after the window, in this order; what is stored stays as it is. */
  readonly processors?: readonly Processor<M>[] | undefined;
  /**
   * What the provider accepts: an object from `@turnkeep/formats/profiles`, or your own. The view is then a list that
   * this provider accepts. Default: none.
   */
  readonly profile?: ProviderProfile | undefined;
  /**
   * `false` shows the memory as it is; it cannot be combined with a `profile`. Default `true`; `false` with unit
   * `message` and no profile.
   */
  readonly repair?: boolean | undefined;
  /**
   * How long one call may take, retries included, in milliseconds. Each attempt at a summary may take as long again.
   * Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether a change that met `STORE_UNAVAILABLE` is repeated, with longer and longer pauses, until `timeoutMs` after it
   * was asked for; nothing is written twice. A call that only reads is repeated once. Default `true`; `false` tells you at
   * once.
   */
  readonly retry?: boolean | undefined;
  /**
   * How long the memory lives without a write, in milliseconds, whatever the store's own `ttlMs` is; `null`: for ever.
   * Every write sets it anew, so give all instances of a memory the same. Needs a store with the capability `ttl`.
   * Default: as the store says.
   */
  readonly ttlMs?: number | null | undefined;
  /** Called synchronously after the event; whatever it throws is ignored. */
  readonly onEvent?: ((event: MemoryEvent) => void) | undefined;
}

/** Where a memory is kept: in this process only, or in a store under an id. */
export type MemoryPlace =
  | {
      /** The memory's name in errors and events. Default `"default"`. */
      readonly id?: string | undefined;
      readonly store?: undefined;
      readonly owner?: undefined;
    }
  | {
      /** The id under which the store keeps the memory. */
      readonly id: string;
      /** Where the memory is kept. Default: in this process. */
      readonly store: ChatMemoryStore;
      /**
       * Who owns the memory: taken when it begins, for `list` and `erase` of `createChatMemories`. If it exists and has
       * another owner or none, every call is `OWNER_MISMATCH`. Without this, the memory is anybody's who knows its id.
       */
      readonly owner?: string | undefined;
    };

/** What a memory does, and where it is kept. */
export type ChatMemoryOptions<M> = MemoryPolicy<M> & MemoryPlace;

/** Options of `viewOf`: what a memory has for its views. A list has nowhere to keep a summary. */
export interface ViewOfOptions<M>
  extends Omit<MemoryPolicy<M>, "history" | "retry" | "ttlMs">,
    Pick<ViewOptions<M>, "model" | "toolsKey" | "openCalls" | "signal"> {}
