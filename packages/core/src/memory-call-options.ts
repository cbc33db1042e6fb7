/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
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
