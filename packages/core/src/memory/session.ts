import { wrongSignal } from "../abort.ts";
import { CallQueue } from "../call-queue.ts";
import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { MemoryEvent } from "../memory-events.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { Item } from "../steps/item.ts";
import type { MemoryUpdate } from "../store-contract.ts";
import { type Limits, unlimited } from "../window/limits.ts";
import type { Attempt, Reading } from "./attempt.ts";
import {
  awayBackOff,
  backOff,
  type Call,
  endedBy,
  isOpenOutcome,
  isRepeatable,
  persist,
  repeatUntil,
  withDeadline,
} from "./deadline.ts";
import { Draft } from "./draft.ts";
import { eraseMemory } from "./erase.ts";
import type { HeldTurn } from "./held-turn.ts";
import { isSameContent } from "./lease.ts";
import { type Loaded, loadedFrom } from "./loaded.ts";
import { checkOwned } from "./owner.ts";
import { report } from "./report.ts";
import { tellUpdate, together } from "./tell-update.ts";
import type { MovedIds } from "./update-parts.ts";
import { cameTrue, isMade } from "./witness.ts";

/** Applies a change to the attempt's draft. Called again on the new state after a conflict. */
export type Plan<M, T> = (attempt: Attempt<M>) => T | Promise<T>;

/** The state that a caller decided on. A change based on it is made on no other. */
export interface Base {
  readonly version: string | null;
}

/** What a change depends on: the turn that makes it, and the state that it was decided on. */
interface ChangeBasis {
  readonly turn: HeldTurn | undefined;
  readonly base: Base | undefined;
}

/** What a commit depends on besides its plan. */
interface CommitOptions {
  readonly base?: Base | undefined;
  readonly limits?: Limits;
  /** Whether it is about who holds the turn, and so no change of the turn's. */
  readonly isOfLease?: boolean;
}

/** An event without its memory id, which the session adds. */
type Reported<Event> = Event extends unknown ? Omit<Event, "memoryId"> : never;

/**
 * One memory's connection to its store. It runs calls in order, keeps what it has read, commits changes against the
 * version they were computed from, and finds out whether an unacknowledged commit took effect.
 */
export class Session<M> {
  readonly #settings: MemorySettings<M>;
  readonly #calls = new CallQueue();
  /** `undefined`: unknown; must be read before the next change. */
  #state: Loaded<M> | undefined;
  /** The items of the newest known state, reused if a read returns them unchanged. */
  #known: readonly Item<M>[] = [];
  /**
   * The version that the caller last looked at, or made its first change from, updated by its own changes; `undefined`
   * before either.
   */
  #looked: string | null | undefined;
  /** The turn that runs over this instance: every change that it makes is the turn's. */
  turn: HeldTurn | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: MemorySettings<M>) {
    this.#settings = settings;
  }

  /** Runs a call after all calls made before it. */
  run<T>(signal: AbortSignal | undefined, call: (call: Call) => Promise<T>): Promise<T> {
    return this.closed ? Promise.reject(this.closedError()) : this.finish(signal, call);
  }

  /** The same for work that a call left behind, which may run even after the memory was closed. */
  finish<T>(signal: AbortSignal | undefined, call: (call: Call) => Promise<T>): Promise<T> {
    const wrong = wrongSignal(signal);
    if (wrong !== undefined) return Promise.reject(wrong);
    const { timeoutMs } = this.#settings;
    const limits = { timeoutMs, signal, repeatUntil: repeatUntil(this.#settings) };
    const turn = this.#calls.run(() => withDeadline(limits, call), timeoutMs);
    return signal === undefined ? turn : endedBy(signal, turn);
  }

  /** Reads the memory and shows it to the caller, which counts as a look unless the call has ended. */
  async look<T>(call: Call, show: (reading: Reading<M>) => T | Promise<T>): Promise<T> {
    const loaded = await this.load(call);
    try {
      const shown = show({ loaded, settings: this.#settings, call });
      return shown instanceof Promise ? await shown : shown;
    } finally {
      if (!call.hasEnded) this.#looked = loaded.version;
    }
  }

  async load(call: Call): Promise<Loaded<M>> {
    const { memoryId, store } = this.#settings;
    const state = this.#state;
    const known = state?.version ?? undefined;
    const snapshot = await store.getMessages(memoryId, { signal: call.signalFor(store), known });
    call.throwIfEnded();
    if (state !== undefined && state.version === snapshot.version) return state;
    checkOwned(this.#settings, snapshot);
    this.#state = loadedFrom(snapshot, this.#settings, this.#known);
    this.#known = [...this.#state.live.items];
    this.turn?.see(this.#state);
    return this.#state;
  }

  /** For a call that reads or deletes without loading the memory. Errors: `OWNER_MISMATCH`. */
  async checkOwned(call: Call): Promise<void> {
    const { memoryId, store, owner } = this.#settings;
    if (owner === undefined) return;
    const known = this.#state?.version ?? undefined;
    const snapshot = await store.getMessages(memoryId, { signal: call.signalFor(store), known });
    if (snapshot.version !== known) checkOwned(this.#settings, snapshot);
  }

  /** The memory as this instance last knew it; others may have changed it since. One that was not there is looked for. */
  lastKnown(call: Call): Loaded<M> | Promise<Loaded<M>> {
    const state = this.#state;
    return state === undefined || state.version === null ? this.#reload(call) : state;
  }

  /** For a change, which goes on when the store is there again. */
  #reload(call: Call): Promise<Loaded<M>> {
    return persist(call, () => this.load(call));
  }

  /**
   * Plans a change and commits it; if nothing is planned, nothing is written. After a conflict the change is planned
   * again on the new state; with a `base`, the conflict is thrown. A change that is empty or refused is also planned
   * again if the memory has changed since it was read.
   *
   * Errors: `TURN_LOST` for a change of a turn that somebody else may have taken over.
   */
  async commit<T>(
    call: Call,
    plan: Plan<M, T>,
    { base, limits = unlimited, isOfLease = false }: CommitOptions = {},
  ): Promise<T> {
    const settings = this.#settings;
    const { memoryId, store, owner } = settings;
    const begun = settings.onEvent && performance.now();
    let open: TurnkeepError | undefined;
    /** The last attempt whose answer was lost, and what has come true of those before. */
    let inDoubt: { readonly draft: Draft<M>; readonly came: MovedIds } | undefined;
    for (let attempt = 1; ; attempt++) {
      const isFresh = this.#state === undefined;
      const loaded = this.#state ?? (await this.#reload(call));
      // A call that ended while it waited must not change the state that later calls work with.
      call.throwIfEnded();
      if (this.#looked === undefined) this.#looked = loaded.version;
      const turn = isOfLease ? undefined : this.turn;
      this.#checkBased({ turn, base }, loaded, open);
      const draft = new Draft(loaded, settings, base !== undefined);
      this.#state = undefined;
      let result: T;
      let came: MovedIds = {};
      try {
        if (inDoubt !== undefined && settings.onEvent !== undefined)
          came = together(inDoubt.came, await cameTrue(inDoubt.draft, { loaded, settings, call }));
        const planned = plan({ draft, loaded, settings, limits, call });
        result = planned instanceof Promise ? await planned : planned;
      } catch (error) {
        await this.#refuse(call, error, open, draft, loaded);
        if (isRepeatable(error, call)) await awayBackOff(attempt, call.signal);
        continue;
      }
      call.throwIfEnded();
      if (!draft.changed) {
        this.#state = loaded;
        if (!isFresh && !(await this.#isCurrent(call, loaded))) continue;
        if (Object.keys(came).length > 0) tellUpdate(settings, draft, attempt, begun, came);
        return result;
      }
      const beats = turn?.carry(draft);
      const update = draft.toUpdate(owner);
      // During this write, an earlier conflict no longer proves that nothing was changed.
      call.failure = undefined;
      try {
        await store.updateMessages(memoryId, update, { signal: call.signalFor(store) });
        tellUpdate(settings, draft, attempt, begun, came);
        call.throwIfEnded();
        this.#state = draft.loaded(update.version);
        this.#known = draft.live.items;
        this.#follow(update);
        beats?.();
        return result;
      } catch (error) {
        const conflict = isTurnkeepError(error, "VERSION_CONFLICT");
        if (!conflict && !isOpenOutcome(error)) {
          await this.#refuse(call, error, open, draft, loaded);
          continue;
        }
        call.throwIfEnded();
        if (!conflict) {
          open = error as TurnkeepError;
          inDoubt = { draft, came };
          call.isOpen = true;
        }
        call.failure = open ?? (error as TurnkeepError);
        const wasApplied = async (): Promise<boolean> => {
          const isApplied = await this.#wasApplied(call, draft, update, open);
          if (isApplied) tellUpdate(settings, draft, attempt, begun, came);
          return isApplied;
        };
        if (await wasApplied()) return result;
        if (conflict) {
          this.emit({ type: "conflict", attempt });
          if (this.#state !== undefined) this.#checkBased({ turn, base }, this.#state, open ?? error);
        } else if (!isRepeatable(error, call)) throw error;
        await (conflict ? backOff : awayBackOff)(attempt, call.signal);
        // A writer without pauses has written again by now, and would be ahead of every attempt based on the last read.
        // And an update whose answer was lost may have arrived only now.
        if (await wasApplied()) return result;
      }
    }
  }

  /**
   * Throws why a change was refused, unless the memory has changed since it was read; then it is planned again. If the
   * outcome of an earlier attempt is unknown, that attempt may be the reason, and its error is thrown instead.
   */
  async #refuse(
    call: Call,
    error: unknown,
    open: TurnkeepError | undefined,
    draft: Draft<M>,
    loaded: Loaded<M>,
  ): Promise<void> {
    call.throwIfEnded();
    if (!draft.changed) this.#state = loaded;
    if (isRepeatable(error, call)) {
      call.failure = open ?? error;
      return;
    }
    if (open !== undefined) throw open;
    if (isOpenOutcome(error) || (await this.#isCurrent(call, loaded))) throw error;
  }

  async #isCurrent(call: Call, { version }: Loaded<M>): Promise<boolean> {
    return (await this.#reload(call)).version === version;
  }

  /** The state that a change with `onConflict: "throw"`, or a `set`, must be based on. */
  async lookedAt(call: Call): Promise<Base> {
    if (this.#looked === undefined) this.#looked = (await this.#reload(call)).version;
    return { version: this.#looked };
  }

  /** Deletes the memory. */
  async delete(call: Call): Promise<void> {
    const known = this.#state?.version ?? undefined;
    this.#state = undefined;
    await eraseMemory(this.#settings, call, { known, turn: this.turn });
    call.throwIfEnded();
    this.turn?.lose();
    this.#known = [];
    this.#looked = null;
    this.emit({ type: "cleared" });
  }

  emit(event: Reported<MemoryEvent>): void {
    const { memoryId, onEvent } = this.#settings;
    report(onEvent, { ...event, memoryId });
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Errors: `CLOSED`. */
  checkOpen(): void {
    if (this.closed) throw this.closedError();
  }

  /** Waits for the calls made so far and the work they left behind; later calls are `CLOSED`. */
  close(leftToDo: () => Promise<void> | undefined): Promise<void> {
    this.#closing ??= this.#calls.ended().then(leftToDo);
    return this.#closing;
  }

  #follow(update: MemoryUpdate): void {
    if (this.#looked !== undefined && isSameContent(this.#looked, update.expected))
      this.#looked = update.version;
  }

  /**
   * Whether an update that failed, or met a conflict, has taken effect all the same. Leaves the new state loaded, and
   * follows an update that was made.
   *
   * @param open Why the outcome of this attempt or of an earlier one is unknown; thrown if the store cannot tell either.
   */
  async #wasApplied(
    call: Call,
    draft: Draft<M>,
    update: MemoryUpdate,
    open: TurnkeepError | undefined,
  ): Promise<boolean> {
    const settings = this.#settings;
    try {
      const loaded = await this.#reload(call);
      if (loaded.version === update.expected) return false;
      const isInPlace = loaded.version === update.version;
      const made = isInPlace || (await persist(call, () => isMade(draft, { loaded, settings, call })));
      if (made === true) this.#follow(update);
      if (made === true || open === undefined) return made === true;
      const isSameLife = loaded.version !== null && loaded.life === draft.life;
      if (made === false && isSameLife) return false;
    } catch (error) {
      throw open ?? error;
    }
    // A repeat might add it twice, or bring back what others removed: the caller must know.
    throw open;
  }

  /**
   * Errors: `TURN_LOST`; `VERSION_CONFLICT`, or what an attempt met whose outcome is unknown, for a change that may be made
   * on another state only.
   */
  #checkBased({ turn, base }: ChangeBasis, loaded: Loaded<M>, met: unknown): void {
    turn?.check(loaded);
    if (base === undefined || isSameContent(base.version, loaded.version)) return;
    throw met !== undefined && !isTurnkeepError(met, "VERSION_CONFLICT") ? met : this.#conflict(met);
  }

  #conflict(cause?: unknown): TurnkeepError {
    const { memoryId } = this.#settings;
    return new TurnkeepError(
      "VERSION_CONFLICT",
      `Memory ${quoted(memoryId)} was changed by somebody else since this instance last looked; nothing was changed. ` +
        "Call messages() to see the new state, then decide again.",
      { cause, details: { memoryId } },
    );
  }

  closedError(): TurnkeepError {
    const { memoryId } = this.#settings;
    return new TurnkeepError("CLOSED", `Memory ${quoted(memoryId)} was closed. Create another one.`, {
      details: { memoryId },
    });
  }
}
