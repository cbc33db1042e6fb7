/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}
