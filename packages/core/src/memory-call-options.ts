/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a put. */
export interface PutOptions extends MemoryCallOptions {
  /**
   * Whether only a live message is replaced: with `true`, an id that no message has is `INVALID_OPTION`. For an answer that
   * still streams, whose beginning somebody may delete meanwhile. Default `false`: the message is added.
   */
  readonly mustExist?: boolean | undefined;
}

/** Options of a change that takes messages away. */
export interface RemovalOptions extends MemoryCallOptions {
  /**
   * What to do when somebody else wrote since this instance last looked (`messages`, `prompt`) or, before that, made its
   * first change: `merge`, the default, makes the change on the new state, `throw` reports `VERSION_CONFLICT` and changes
   * nothing.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
}
