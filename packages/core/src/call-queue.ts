/** How much longer than its limit a call may take, per waiting call, before it counts as dropped. */
export const graceMs = 100;
const longestTimer = 2 ** 31 - 1;
const soon = Promise.resolve();

/**
 * Runs calls one after the other, in the order in which they were made.
 *
 * A call with a limit ends by that limit, unless the runtime drops the call together with its timers, as Cloudflare's
 * Workers do with all work of a request whose client went away. Calls behind it must not wait forever, so each waits by
 * its own timer: a later call waits longer, so that waiting calls keep their order.
 *
 * @example
 * ```ts
 * import { CallQueue } from "@turnkeep/core/store-kit";
 *
 * const queue = new CallQueue();
 * const answers = [3, 2, 1].map((n) => queue.run(async () => n));
 * console.log(await Promise.all(answers)); // [3, 2, 1], each begun when the one before it had ended
 * ```
 */
export class CallQueue {
  /** Settles when the calls made so far have ended; `undefined`: none runs or waits. */
  #tail: Promise<unknown> | undefined;
  /** How many calls were made, which of them began last, and when that one must have ended. */
  #made = 0;
  #begun = 0;
  #until = 0;

  /**
   * Makes the call when all earlier calls have ended or can no longer run. `limitMs`: how long it takes at most, from
   * when it begins; the call itself must keep to it. Without a limit, later calls wait until it ends.
   */
  run<T>(call: () => Promise<T>, limitMs: number = Number.POSITIVE_INFINITY): Promise<T> {
    const place = ++this.#made;
    const begin = (): void => {
      this.#begun = Math.max(this.#begun, place);
      this.#until = performance.now() + limitMs;
    };
    let turn: Promise<T>;
    const before = this.#before(place, begin);
    if (before === undefined) {
      // At once, so that a call in the same tick finds it running.
      begin();
      turn = soon.then(call);
    } else {
      turn = before.then(() => {
        begin();
        return call();
      });
    }
    const ended = (): void => {
      if (this.#tail === tail) this.#tail = undefined;
    };
    const tail = turn.then(ended, ended);
    this.#tail = tail;
    return turn;
  }

  /** Resolves when the calls made so far have ended or can no longer run. */
  async ended(): Promise<void> {
    await this.#before(this.#made + 1);
  }

  #before(place: number, begin?: () => void): Promise<void> | undefined {
    const tail = this.#tail;
    const left = (): number => {
      const ms = this.#left(place);
      // At once, so that a call in the same tick waits for this one, not for the dropped one before it.
      if (ms <= 0) begin?.();
      return ms;
    };
    return tail && endedOrDropped(tail, left);
  }

  /** How long until the running call counts as dropped for the one at this place. */
  #left(place: number): number {
    const ahead = place - this.#begun;
    // A later call gave this one up although it was alive: its turn has passed.
    return ahead < 0 ? 0 : this.#until + ahead * graceMs - performance.now();
  }
}

/** Resolves when the work has ended, or when `left` has no milliseconds left for it. */
export function endedOrDropped(work: Promise<unknown>, left: () => number): Promise<void> {
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const look = (): void => {
      const ms = left();
      if (ms <= 0) resolve();
      else if (ms < Number.POSITIVE_INFINITY) timer = setTimeout(look, Math.min(ms, longestTimer));
    };
    work.then(go, go);
    look();
  });
}
