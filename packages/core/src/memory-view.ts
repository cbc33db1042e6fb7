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

/** A view with the prompt apart. */
export interface Prompt<M> {
  readonly system: SystemOf<M> | undefined;
  /** The others. System messages that stay where they were said (`systemMessages`) are among them, whatever the type says. */
  readonly messages: NonSystemOf<M>[];
}

/** Options of a view. */
export interface ViewOptions<M> extends MemoryCallOptions {
  /** Messages for this call only: counted and shown as if they had been added last, never stored. */
  readonly extra?: readonly M[] | undefined;
  /**
   * Ids of messages that the window shows in this view, such as the question that is being answered; it hides others
   * instead, but nothing of their steps. One that has left memory for history stands where it was, for this view only;
   * without its question with unit `turn` too; one that a provider's compaction stands for stays out. Processors may still
   * leave it out.
   *
   * Errors: `WINDOW_OVERFLOW` if they do not fit, unless `overflow` is `keep`; `NOT_FOUND` for one that was removed or
   * superseded, or left a memory that keeps no history.
   */
  readonly pinned?: readonly string[] | undefined;
  /** What the provider of this call accepts. Default: the memory's `profile`. */
  readonly profile?: ProviderProfile | undefined;
  /**
   * The model that the view is for. If the `profile` says that the provider binds reasoning to what it was made from,
   * reasoning by another model (see {@link entry}) is left out, with all reasoning before it. Names are compared
   * literally: the dated name in a response differs from the alias in the request.
   */
  readonly model?: string | undefined;
  /**
   * Names the tools of the request, for example a hash of their definitions. They stand before all messages: a provider that
   * binds reasoning to what it was made from (see the `profile`) refuses what was made under others, so it is left out, with
   * all reasoning before it. What this instance then adds is kept under the same name; elsewhere, name it in {@link entry}.
   */
  readonly toolsKey?: string | undefined;
  /**
   * Which calls of the last step may stand without a result: `any`, since tools may be running, or only those that are
   * `approved` and whoever asks runs now. The others are shown as interrupted, as a provider wants of a list that it is sent.
   * Default: `approved` with a profile, else `any`. Of no effect with `repair: false` and no profile.
   */
  readonly openCalls?: "any" | "approved" | undefined;
}

/** Options of `explain`: those of the view that it explains, and more. */
export interface ExplainOptions<M> extends ViewOptions<M> {
  /** How many of the messages that have left memory to include: the newest ones. 0 to 1,000; default 100. */
  readonly evicted?: number | undefined;
}

/** One message, and what became of it in the view. */
export interface ExplainedMessage<M> {
  /** The id of the stored message; `undefined` for one that exists in the view only. */
  readonly id: string | undefined;
  /**
   * `shown`: as it is. `evicted`: the window has no room for it. `filtered`: a processor left it out. `cut`: a
   * processor changed it. `repaired`: it was changed, left out or inserted so that the provider accepts the list.
   */
  readonly state: "shown" | "evicted" | "filtered" | "cut" | "repaired";
  /**
   * What caused the state: `window`, `compact` (the message has left memory, and a summary stands for it), the
   * processor's name, `repair`, `reasoning` or the profile's rule.
   */
  readonly by: string | undefined;
  /** As added, or given as `extra`; `undefined` if it was inserted into the view or its record is unreadable. */
  readonly stored: M | undefined;
  /** As the model is shown it; `undefined` if it is not shown. */
  readonly shown: M | undefined;
  /** Its tokens in the view, as the counter counts them; 0 if it is not shown, and without a counter. */
  readonly tokens: number;
}

/** What the model sees, and why. */
export interface Explanation<M> {
  /** What has left memory, oldest first; then the others in view order, hidden ones after their predecessors. */
  readonly messages: ExplainedMessage<M>[];
  /** Tokens that the view uses, with the counter's base and the reserve, as calibrated; 0 without a counter. */
  readonly tokens: number;
  readonly maxTokens: number | undefined;
  readonly maxMessages: number | undefined;
  /** Set where `messages()` would throw `WINDOW_OVERFLOW`, or shows more than the limit. */
  readonly overflow: { readonly needed: number; readonly limit: number } | undefined;
}
