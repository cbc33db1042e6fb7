/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `put`. */
export interface PutOptions<M> extends MemoryCallOptions {
  /**
   * With `true`, only a live message is replaced, and an id that no message has is `INVALID_OPTION`. For an answer that
   * still streams, whose beginning somebody may delete in the meantime. Default `false`: the message is added.
   */
  readonly mustExist?: boolean | undefined;
  /**
   * Only replaces the message as it is here: one with other content is `VERSION_CONFLICT`, and an id that no message has
   * is `INVALID_OPTION`. So of two that take the same step from what they read, one succeeds, in whatever process: a
   * call is carried out once although its approval comes twice.
   */
  readonly replaces?: M | undefined;
}

/** Options of a change that takes messages away. */
export interface RemovalOptions extends MemoryCallOptions {
  /**
   * What to do if somebody else wrote since this instance last looked (`messages`, `prompt`) or, if it never looked,
   * since its first change: `merge`, the default, makes the change on the new state; `throw` reports `VERSION_CONFLICT`
   * and changes nothing.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
}
