import type { MemorySettings } from "../memory-settings.ts";
import type { Limits } from "../window/limits.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Loaded } from "./draft.ts";

/** One attempt at a change: what it changes and relies on. After a conflict comes another, on the new state. */
export interface Attempt<M> {
  readonly draft: Draft<M>;
  /** The memory as it was read for this attempt. */
  readonly loaded: Loaded<M>;
  readonly settings: MemorySettings<M>;
  readonly limits: Limits;
  readonly call: Call;
}

/** What an attempt changes, and the window that it keeps. */
export type Windowed<M> = Pick<Attempt<M>, "draft" | "settings" | "limits">;

/** Which memory an attempt asks the store about. */
export type Asking<M> = Pick<Attempt<M>, "settings" | "call">;
