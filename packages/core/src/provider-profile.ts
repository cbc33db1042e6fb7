import type { MessageFormat } from "./message-format.ts";

/** A view in the shape that a provider accepts. */
export interface ShapedView<M> {
  readonly messages: M[];
  /** The rules that required a change, each with the messages as they were after that change. */
  readonly stages: readonly ViewStage<M>[];
}

/** The messages of a view after one change. */
export interface ViewStage<M> {
  /** The name of the rule or processor. */
  readonly name: string;
  readonly messages: readonly M[];
}

/**
 * What a provider accepts. `@turnkeep/formats/profiles` has a profile for each common provider; you can also write your
 * own.
 */
export interface ProviderProfile {
  readonly name: string;
  /** `user`: the first message after the system message must be the user's; the window then evicts whole turns. */
  readonly firstMessage: "user" | "any";
  /**
   * Which reasoning may be sent back to the provider: all of it (`any`), none (`none`), or only what was made when
   * everything before it was as it is now (`bound`).
   */
  readonly reasoning: "any" | "none" | "bound";
  /** How many messages a request may hold. */
  readonly maxMessages?: number | undefined;
  /**
   * The view as the provider accepts it. The given view already has every call answered directly after it and no result
   * without its call. Must be pure: no clock, no randomness. Messages that need no change are returned as they are.
   *
   * Errors: `WINDOW_OVERFLOW` with `details.needed` and `details.limit` if there is too much of something that
   * cannot be left out, `UNSUPPORTED` if the format lacks a method that a change needs.
   */
  shape<M>(messages: readonly M[], format: MessageFormat<M>): ShapedView<M>;
  /**
   * Only if `shape` changes call ids: maps each id that a view shows to the id of the stored call. A result that is
   * added under an id from a view is stored under the id of its call. `asked` are the ids of such results: one may be from a
   * view of more calls, some of which have left since.
   */
  storedCallIds?<M>(
    messages: readonly M[],
    format: MessageFormat<M>,
    asked?: readonly string[],
  ): ReadonlyMap<string, string>;
}
