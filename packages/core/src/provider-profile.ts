import type { MessageFormat } from "./message-format.ts";

/** A view in the shape that a provider accepts. */
export interface ShapedView<M> {
  readonly messages: M[];
  /** The rules that asked for a change, each with the messages as they were behind it. */
  readonly stages: readonly ViewStage<M>[];
}

/** The messages of a view behind one change. */
export interface ViewStage<M> {
  /** Of the rule, or of the processor. */
  readonly name: string;
  readonly messages: readonly M[];
}

/**
 * What a provider accepts. `@turnkeep/formats/profiles` has one for each of the common providers; an application may
 * bring its own.
 */
export interface ProviderProfile {
  readonly name: string;
  /** `user`: the first message after the system message must be the user's; the window then evicts whole turns. */
  readonly firstMessage: "user" | "any";
  /**
   * What may come back of a model's reasoning: all of it (`any`), nothing (`none`), or what was made while everything
   * before it was as it is now (`bound`).
   */
  readonly reasoning: "any" | "none" | "bound";
  /** How many messages a request may hold. */
  readonly maxMessages?: number | undefined;
  /**
   * The view as the provider accepts it. Given a view in which every call is answered right behind it and no result
   * stands without its call. Pure: no clock, no chance; messages that need no change are answered as they are.
   *
   * Errors: `WINDOW_OVERFLOW` with `details.needed` and `details.limit` for what is too much and cannot be left out,
   * `UNSUPPORTED` where the format lacks a method that a change needs.
   */
  shape<M>(messages: readonly M[], format: MessageFormat<M>): ShapedView<M>;
  /**
   * Only where `shape` gives calls other ids: by the id that a view shows, the id of the call in these messages. A result that
   * is added under an id of a view is stored under that of its call.
   */
  storedCallIds?<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlyMap<string, string>;
}
