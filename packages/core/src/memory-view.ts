import type { MemoryCallOptions } from "./memory-call-options.ts";
import type { ProviderProfile } from "./provider-profile.ts";

/** The system message of a view. */
export type SystemOf<M> = [Extract<M, { role: "system" }>] extends [never]
  ? M
  : Extract<M, { role: "system" }>;

/** The other messages of a view. */
export type NonSystemOf<M> = [Exclude<M, { role: "system" }>] extends [never]
  ? M
  : Exclude<M, { role: "system" }>;

/** A view with the system message apart. */
export interface Prompt<M> {
  readonly system: SystemOf<M> | undefined;
  readonly messages: NonSystemOf<M>[];
}

/** What a view is asked for, beside what the memory holds. */
export interface ViewOptions<M> extends MemoryCallOptions {
  /** Messages for this call only: counted and shown as if they had been added last, never stored. */
  readonly extra?: readonly M[] | undefined;
  /** What the provider of this call accepts. Default: the memory's `profile`. */
  readonly profile?: ProviderProfile | undefined;
  /**
   * The model that the view is for. Reasoning that another model made, by its {@link entry}, is left out, with all
   * before it, where the `profile` says that a provider binds reasoning to what it was made from. Names are compared as
   * they are: a dated one, as a response gives it, is another model's than the alias that the request names.
   */
  readonly model?: string | undefined;
}

/** How a question about the view is asked: as `messages` would be, for the same view. */
export interface ExplainOptions<M> extends ViewOptions<M> {
  /** How many of the messages that have left memory are told of, the newest. 0 to 1,000; default 100. */
  readonly evicted?: number | undefined;
}

/** One message, and what became of it in the view. */
export interface ExplainedMessage<M> {
  /** Of the stored message; `undefined` for one that stands in the view alone. */
  readonly id: string | undefined;
  /**
   * `shown` as it is; `evicted`: the window has no place for it; `filtered`: a processor left it out; `cut`: a processor
   * changed it; `repaired`: it was changed, left out or put in so that the provider takes the list.
   */
  readonly state: "shown" | "evicted" | "filtered" | "cut" | "repaired";
  /**
   * `window`; `compact`: it has left memory, and stood where a summary reaches; the processor's name, `repair`, `reasoning` or
   * the profile's rule.
   */
  readonly by: string | undefined;
  /** As it was added, or given as `extra`; `undefined` for what was put into the view, and for a record that cannot be read. */
  readonly stored: M | undefined;
  /** As the model is shown it; `undefined` if it is not. */
  readonly shown: M | undefined;
  /** What it takes of the view as the counter counts it; 0 for a message that is not shown, and without a counter. */
  readonly tokens: number;
}

/** What the model sees, and why. */
export interface Explanation<M> {
  /** What has left memory, oldest first; then the rest in the order of the view, what is not shown behind what stood before it. */
  readonly messages: ExplainedMessage<M>[];
  /** What the view takes of the limit, with the counter's base and the reserve, as calibrated; 0 without a counter. */
  readonly tokens: number;
  readonly maxTokens: number | undefined;
  readonly maxMessages: number | undefined;
  /** Set where `messages()` would throw `WINDOW_OVERFLOW`, or shows more than the limit. */
  readonly overflow: { readonly needed: number; readonly limit: number } | undefined;
}
