import { throwIfAborted } from "../abort.ts";
import { endedOrDropped, graceMs } from "../call-queue.ts";
import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { MemoryCallOptions, TurnOptions } from "../memory-call-options.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { randomName } from "../message-id.ts";
import { wrongOption } from "../option-checks.ts";
import { checkExists, type MustExist } from "./anchor.ts";
import { takeSignal, takeTurnOptions } from "./call-options.ts";
import { backOff, endedBy } from "./deadline.ts";
import { HeldTurn } from "./held-turn.ts";
import type { Lease } from "./lease.ts";
import type { Plan, Session } from "./session.ts";

/** How often a turn looks whether it was asked to end. */
const lookEveryMs = 1000;

/** The longest pause before somebody who waits looks again. */
const mostWaitMs = 500;

/** What a turn does about others, and depends on. */
interface Rules {
  readonly busy: "wait" | "reject";
  readonly mustExist: MustExist;
}

/** What `turn` runs. */
type Run<T> = (turn: { readonly signal: AbortSignal }) => T | Promise<T>;

/**
 * The turns of one memory object: one at a time here, and by a lease one at a time everywhere. No clocks are compared:
 * whoever waits takes a lease for dead once it has not changed for its `leaseMs` by his own clock.
 */
export class Turns<M> {
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  readonly #holder = randomName();
  #beats = 0;
  /** The turn that runs here, or waits for others to end. */
  #current: HeldTurn | undefined;
  /** Until when the current turn shows no sign of life at the latest, unless its runtime has dropped it. */
  #aliveUntil = 0;
  /** Whether `run` has been called and has not returned yet, not even a promise. */
  #isCalling = false;
  /** The lease of somebody else, and since when it has been as it is. */
  #seen: { readonly lease: Lease; readonly since: number } | undefined;

  constructor(settings: MemorySettings<M>, session: Session<M>) {
    this.#settings = settings;
    this.#session = session;
  }

  async run<T>(run: Run<T>, options: TurnOptions | undefined): Promise<T> {
    if (typeof run !== "function") throw wrongOption("turn's argument", run, "a function");
    const { leaseMs, signal, ...rules } = takeTurnOptions(options);
    const isNested = signal !== undefined && signal === this.#current?.signal;
    if (isNested || this.#isCalling)
      throw this.#busy("asks for another one, which would wait for it for ever");
    const turn = await this.#alone(rules.busy, signal, leaseMs);
    try {
      await this.#acquire(turn, rules, signal);
    } catch (error) {
      // It may have been taken all the same.
      if (!isTurnkeepError(error, "BUSY")) void this.#release(turn);
      this.#leave(turn);
      throw error;
    }
    this.#session.turn = turn;
    this.#keep(turn);
    try {
      return await this.#call(run, turn);
    } finally {
      await this.#end(turn);
    }
  }

  async requestStop(options: MemoryCallOptions | undefined): Promise<boolean> {
    const signal = takeSignal("requestStop", options);
    return this.#commit("run", signal, ({ draft }) => {
      const own = this.#session.turn;
      if (own?.owns(draft) === true) {
        own.stop();
        return true;
      }
      const { turn } = draft;
      if (turn === undefined || this.#isFree(turn)) return false;
      if (turn.stop !== true) draft.turn = { ...turn, stop: true };
      return true;
    });
  }

  async running(options: MemoryCallOptions | undefined): Promise<boolean> {
    const signal = takeSignal("running", options);
    return this.#session.run(signal, async (call) => {
      const state = await this.#session.load(call);
      if (this.#session.turn?.owns(state) === true) return true;
      return state.turn !== undefined && !this.#isFree(state.turn);
    });
  }

  /** Ends the turn that runs, as far as the memory is concerned: its writes are `CLOSED`. */
  close(): void {
    const turn = this.#current;
    if (turn === undefined) return;
    turn.abort(this.#session.closedError());
    void this.#end(turn);
  }

  /** Waits until no other turn runs here. */
  async #alone(busy: "wait" | "reject", signal: AbortSignal | undefined, leaseMs: number): Promise<HeldTurn> {
    for (;;) {
      throwIfAborted(signal);
      this.#session.checkOpen();
      const turn = this.#current;
      if (turn === undefined) {
        const { memoryId, isOwn } = this.#settings;
        const nextBeat = (): number => ++this.#beats;
        const next = new HeldTurn({ memoryId, isOwn, holder: this.#holder, leaseMs, signal, nextBeat });
        // At once: others may have waited for the same one to end.
        this.#current = next;
        this.#showLife(next);
        return next;
      }
      const leftMs = (): number => this.#aliveUntil - performance.now();
      if (busy === "reject" && leftMs() > 0) throw this.#busy("runs");
      // A process that was stopped has two late timers: the one that shows life may be the second.
      let isLate = false;
      const over = endedOrDropped(turn.left, () => {
        const ms = leftMs();
        if (ms > 0 || isLate) return ms;
        isLate = true;
        return graceMs;
      });
      await (signal === undefined ? over : endedBy(signal, over));
      // One that its runtime has dropped does not leave by itself.
      this.#leave(turn);
    }
  }

  async #acquire(turn: HeldTurn, rules: Rules, signal: AbortSignal | undefined): Promise<void> {
    const { busy, mustExist } = rules;
    if (this.#settings.isOwn) {
      if (mustExist !== false)
        await this.#commit("run", signal, (reading) => checkExists(mustExist, reading));
      return;
    }
    for (let attempt = 1; ; attempt++) {
      this.#showLife(turn);
      let beats: (() => void) | undefined;
      const other = await this.#commit("run", signal, async (reading) => {
        await checkExists(mustExist, reading);
        const { draft } = reading;
        const lease = draft.turn;
        if (lease !== undefined && !this.#isFree(lease)) return lease;
        // Nothing of an earlier turn's, such as a request to end it.
        draft.turn = undefined;
        beats = turn.beat(draft);
        return undefined;
      });
      if (other === undefined) {
        this.#session.checkOpen();
        return beats?.();
      }
      if (busy === "reject") throw this.#busy("is held");
      const pause = backOff(attempt, turn.signal, Math.min(mostWaitMs, other.leaseMs));
      await (signal === undefined ? pause : endedBy(signal, pause));
    }
  }

  /** Calls `run`, and notices if that calls `turn` before it waits for anything. */
  #call<T>(run: Run<T>, { signal }: HeldTurn): T | Promise<T> {
    this.#isCalling = true;
    try {
      return run({ signal });
    } finally {
      this.#isCalling = false;
    }
  }

  /** Renews the lease, and looks for requests to end the turn, until it is over. */
  #keep(turn: HeldTurn): void {
    const period = Math.min(lookEveryMs, turn.leaseMs / 3);
    turn.later(period, async () => {
      this.#showLife(turn);
      if (this.#settings.isOwn) return this.#keep(turn);
      if (turn.leftMs <= (turn.leaseMs * 2) / 3) await this.#renew(turn);
      else await this.#look(turn);
      this.#keep(turn);
    });
  }

  /** A process that has slept tries once more, before it takes the lease for lost. */
  async #renew(turn: HeldTurn): Promise<void> {
    if (turn.isLost) return;
    let beats: (() => void) | undefined;
    try {
      await this.#within(Math.max(turn.leftMs, turn.leaseMs / 3), (signal) =>
        this.#commit("finish", signal, ({ draft }) => {
          turn.check(draft);
          beats = turn.beat(draft);
        }),
      );
      beats?.();
    } catch (error) {
      if (turn.leftMs <= 0) turn.lose(error);
    }
  }

  /** What it finds, the session tells the turn. */
  async #look(turn: HeldTurn): Promise<void> {
    const session = this.#session;
    const look = (signal: AbortSignal): Promise<unknown> =>
      session.finish(signal, (call) => session.load(call));
    await this.#within(turn.leaseMs / 3, look).catch(() => {});
  }

  async #end(turn: HeldTurn): Promise<void> {
    if (turn.isOver) return;
    turn.end();
    // What others write by this memory object from here on is no change of the turn's.
    if (this.#session.turn === turn) this.#session.turn = undefined;
    await this.#release(turn);
    this.#leave(turn);
  }

  /** Whoever waits need not wait for `leaseMs`. If it fails, he does. */
  async #release(turn: HeldTurn): Promise<void> {
    if (this.#settings.isOwn) return;
    const release = (signal: AbortSignal): Promise<void> =>
      this.#commit("finish", signal, ({ draft }) => turn.release(draft));
    await this.#within(turn.leaseMs / 3, release).catch(() => {});
  }

  #leave(turn: HeldTurn): void {
    turn.leave();
    if (this.#session.turn === turn) this.#session.turn = undefined;
    if (this.#current === turn) this.#current = undefined;
  }

  #commit<T>(how: "run" | "finish", signal: AbortSignal | undefined, plan: Plan<M, T>): Promise<T> {
    const session = this.#session;
    return session[how](signal, (call) => session.commit(call, plan, { isOfLease: true }));
  }

  async #within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ms);
    try {
      return await work(controller.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether nobody holds that lease any more: an earlier turn of this object, or one that has shown no life for long. */
  #isFree(lease: Lease): boolean {
    if (lease.holder === this.#holder) return this.#session.turn === undefined;
    const now = performance.now();
    const { holder, beat } = this.#seen?.lease ?? {};
    if (holder !== lease.holder || beat !== lease.beat) this.#seen = { lease, since: now };
    return now - (this.#seen?.since ?? now) >= lease.leaseMs;
  }

  #showLife(turn: HeldTurn): void {
    if (this.#current !== turn) return;
    this.#aliveUntil = performance.now() + turn.leaseMs + this.#settings.timeoutMs;
  }

  #busy(what: string): TurnkeepError {
    const { memoryId } = this.#settings;
    return new TurnkeepError(
      "BUSY",
      `A turn of memory ${quoted(memoryId)} ${what}. Wait for it (busy: "wait"), or ask it to end: requestStop().`,
      { details: { memoryId } },
    );
  }
}
