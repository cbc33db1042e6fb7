/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a change is bound to: a memory as it began once, and if named a message in it. Made by `memory.anchor()`. Plain
 * data, so that another process may go on with it.
 */
export interface Anchor {
  /** Tells the memory from one that was there before it, or comes after it, under the same id. */
  readonly life: string;
  readonly messageId?: string | undefined;
  /** The place of that message, which tells it from another one under the same id. */
  readonly seq?: number | undefined;
}

/** What a `put` depends on. */
export interface PutRules<M> {
  /**
   * With `true`, a message is only replaced, and an id that no message has is `NOT_FOUND`. For an answer that still
   * streams, whose beginning somebody may delete in the meantime. With an {@link Anchor}, the message is added or
   * replaced only while what the anchor holds on to is there; else `NOT_FOUND`. Default `false`: the message is added.
   */
  readonly mustExist?: boolean | Anchor | undefined;
  /**
   * Only replaces the message as it is here: one with other content is `VERSION_CONFLICT`, and an id that no message has
   * is `NOT_FOUND`. So of two that take the same step from what they read, one succeeds, in whatever process: a
   * call is carried out once although its approval comes twice.
   */
  readonly replaces?: M | undefined;
}

/** Options of `put`. */
export interface PutOptions<M> extends PutRules<M>, MemoryCallOptions {}

/** Options of a change that takes messages away. */
export interface RemovalOptions extends MemoryCallOptions {
  /**
   * What to do if somebody else wrote since this instance last looked (`messages`, `prompt`) or, if it never looked,
   * since its first change: `merge`, the default, makes the change on the new state; `throw` reports `VERSION_CONFLICT`
   * and changes nothing.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
  /**
   * With an {@link Anchor}, takes away only while what it holds on to is there, else `NOT_FOUND`: whoever takes back what
   * long work has added must not touch a conversation that has begun anew since. Default `false`.
   */
  readonly mustExist?: boolean | Anchor | undefined;
}

/** How far a `remove` goes. */
export interface RemoveRules {
  /**
   * Deletes this message alone, and leaves the rest of its step: for one that should never have been said. A result
   * whose call is gone is then not shown, and a call whose result is gone is shown as interrupted. Default `false`.
   */
  readonly only?: boolean | undefined;
}

/** Options of `remove`. */
export interface RemoveOptions extends RemoveRules, RemovalOptions {}

/** Options of `turn`. */
export interface TurnOptions extends MemoryCallOptions {
  /**
   * What to do while another turn of the memory is under way, in whatever process: `wait` until it ends, or `reject` with
   * `BUSY`. Default `"wait"`.
   */
  readonly busy?: "wait" | "reject" | undefined;
  /**
   * After how long without a renewal others may take the turn over, in milliseconds: 100 to 2,147,483,647. It is renewed
   * three times as often. A process that is killed is replaced after this long; one that stands still for as long, or
   * does not reach the store, loses its turn. Below some seconds, a pause of the process or the network is enough. Default 30,000.
   */
  readonly leaseMs?: number | undefined;
  /**
   * What must be there once the turn may begin: with `true` the memory, with an {@link Anchor} what that holds on to. Else
   * `NOT_FOUND`, `run` is not called and nothing is written: what waited in a conversation that was deleted goes with it. Default
   * `false`: a turn begins a memory that is not there.
   */
  readonly mustExist?: boolean | Anchor | undefined;
}

/** What a provider counted for a request. */
export interface CalibrateOptions {
  /** All input tokens, cached ones included (some providers report those apart). A positive integer. */
  readonly inputTokens: number;
  /** How many of them were not messages but tool definitions, for example. The `reserve` covers them. Default 0. */
  readonly otherTokens?: number | undefined;
}

/** How far {@link ChatMemory.shrink} goes. */
export interface ShrinkOptions extends MemoryCallOptions {
  /** The share of the view to keep: above 0, below 1. Default 0.7. */
  readonly target?: number | undefined;
}

/** What {@link ChatMemory.shrink} did. */
export interface Shrunk {
  /** The ids of the messages that left for history, oldest first. Derived messages are not among them. */
  readonly messageIds: readonly string[];
  /** How many messages the window showed before, and shows now. */
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Their tokens by the window's counter, with nothing added; `undefined` without a counter. */
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
}

/** Options of {@link ChatMemory.transaction}. */
export interface TransactionOptions extends MemoryCallOptions {
  /**
   * What to do if somebody else wrote in the meantime: `merge` applies the changes again, to the new state, `throw` reports
   * `VERSION_CONFLICT`. Default: `throw` once the function has read the messages, and for `set`, which goes by what this
   * instance last looked at; else `merge`.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
  /**
   * With `true`, only changes an existing memory: one that was deleted, has expired or never began is `NOT_FOUND`. With
   * an {@link Anchor}, only while what it holds on to is there. For long work, such as a model's answer, during which
   * somebody may delete the conversation and begin it anew, or take the question back. Default `false`: the memory
   * begins anew.
   */
  readonly mustExist?: boolean | Anchor | undefined;
}
