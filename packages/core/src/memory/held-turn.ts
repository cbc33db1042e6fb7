import { onAbort, ownSignal } from "../abort.ts";
import { quoted, TurnkeepError } from "../errors.ts";
import type { Lease } from "./lease.ts";

/** What of a memory, or of a change, says who holds the turn. */
interface LeasedState {
  readonly turn: Lease | undefined;
}

interface LeasedDraft {
  turn: Lease | undefined;
}

/** Whose turn it is, and for how long at a time. */
interface HeldBy {
  readonly memoryId: string;
  readonly holder: string;
  readonly leaseMs: number;
  /** Whether nobody else can have the memory: then it needs no lease. */
  readonly isOwn: boolean;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** A number for a beat; never the same twice. */
  readonly nextBeat: () => number;
}

/**
 * A turn that a memory object runs, or waits to run. It counts as lost once its lease is not in the memory any more, or
 * was not renewed in time: from then on somebody else may run a turn.
 */
export class HeldTurn {
  readonly leaseMs: number;
  /** Resolves when nothing of the turn is under way any more. */
  readonly left: Promise<void>;
  readonly #by: HeldBy;
  readonly #own = ownSignal();
  readonly #stopFollowing: (() => void) | undefined;
  /** When the newest beat that is known to be in the memory was made. */
  #beatAt = 0;
  #isLost = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #leave: () => void = () => {};

  constructor(by: HeldBy) {
    this.#by = by;
    this.leaseMs = by.leaseMs;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    const { signal } = by;
    if (signal !== undefined) this.#stopFollowing = onAbort(signal, () => this.abort(signal.reason));
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** How long until somebody else may take the lease for dead. */
  get leftMs(): number {
    return this.#beatAt + this.leaseMs - performance.now();
  }

  owns({ turn }: LeasedState): boolean {
    return this.#by.isOwn || turn?.holder === this.#by.holder;
  }

  /** Puts the lease, or another beat of it, into a change. Call what it returns once the change is made. */
  beat(draft: LeasedDraft): () => void {
    const { holder, nextBeat } = this.#by;
    const begun = performance.now();
    const stop = this.owns(draft) ? draft.turn?.stop : undefined;
    const lease: Lease = { holder, beat: nextBeat(), leaseMs: this.leaseMs };
    draft.turn = stop === undefined ? lease : { ...lease, stop };
    return () => {
      this.#beatAt = begun;
    };
  }

  /** The same for a change that the turn makes anyway, if a beat is due before long. */
  carry(draft: LeasedDraft): (() => void) | undefined {
    const isDue = !this.#by.isOwn && this.leftMs < this.leaseMs * (5 / 6);
    return isDue ? this.beat(draft) : undefined;
  }

  /** Takes the lease out of the memory, if it is there. */
  release(draft: LeasedDraft): void {
    if (this.owns(draft)) draft.turn = undefined;
  }

  /** Notes what was read. */
  see(state: LeasedState): void {
    if (!this.owns(state)) this.lose();
    else if (state.turn?.stop === true) this.stop();
  }

  /** Errors: `TURN_LOST`. */
  check(state: LeasedState): void {
    this.see(state);
    if (this.#isLost) throw this.#lostError();
  }

  stop(): void {
    const { memoryId } = this.#by;
    const message = `The turn of memory ${quoted(memoryId)} was asked to end (requestStop).`;
    this.abort(new TurnkeepError("ABORTED", message, { details: { memoryId } }));
  }

  lose(cause?: unknown): void {
    this.#isLost = true;
    this.abort(this.#lostError(cause));
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (!this.#isOver && !this.signal.aborted) this.#own.abort(reason);
  }

  /** Works after that time, unless the turn is over by then. */
  later(ms: number, work: () => void): void {
    if (!this.#isOver) this.#timer = setTimeout(work, ms);
  }

  /** What happens from here on concerns nobody who runs the turn. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stopFollowing?.();
  }

  leave(): void {
    this.end();
    this.#leave();
  }

  #lostError(cause?: unknown): TurnkeepError {
    const { memoryId } = this.#by;
    return new TurnkeepError(
      "TURN_LOST",
      `The turn of memory ${quoted(memoryId)} has lost its lease: it was not renewed within ${this.leaseMs} ms (leaseMs), ` +
        "somebody else has begun a turn, or the memory was deleted. Nothing was written. End the turn.",
      { cause, details: { memoryId } },
    );
  }
}
