import type { MemoryEvent } from "./memory-events.ts";
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
  /** Shape the view, in this order, behind the window; what is stored stays as it is. */
  readonly processors?: readonly Processor<M>[] | undefined;
  /**
   * What the provider accepts: an object of `@turnkeep/formats/profiles`, or of your own. The view is then a list that
   * this provider takes. Default: none.
   */
  readonly profile?: ProviderProfile | undefined;
  /**
   * `false`: the view shows the memory as it is; not together with a `profile`. Default `true`; `false` with unit
   * `message` and no profile.
   */
  readonly repair?: boolean | undefined;
  /**
   * How long one call may take, retries included, in milliseconds; a summary may take as long again, each time that it is
   * asked for. Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Called synchronously after the fact; what it throws is ignored. */
  readonly onEvent?: ((event: MemoryEvent) => void) | undefined;
}

/** Where a memory is kept: nowhere but in this process, or in a store under an id. */
export type MemoryPlace =
  | { readonly id?: string | undefined; readonly store?: undefined; readonly owner?: undefined }
  | { readonly id: string; readonly store: ChatMemoryStore; readonly owner?: string | undefined };

/** What a memory does, and where it is kept. */
export type ChatMemoryOptions<M> = MemoryPolicy<M> & MemoryPlace;
