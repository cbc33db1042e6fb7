import type { MemorySettings } from "../memory-settings.ts";
import type { Limits } from "../window/limits.ts";
import type { Call } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import type { Loaded } from "./loaded.ts";

/** A memory as it was read for a call, which may ask the store for more of it. */
export interface Reading<M> {
  readonly loaded: Loaded<M>;
  readonly settings: MemorySettings<M>;
  readonly call: Call;
  /** What has been changed of it and is not stored yet. */
  readonly draft?: Draft<M> | undefined;
}

/** One attempt at a change: what it changes and relies on. After a conflict comes another, on the new state. */
export interface Attempt<M> extends Reading<M> {
  readonly draft: Draft<M>;
  /** Unlimited for a change that does not depend on the window. */
  readonly limits: Limits;
}
