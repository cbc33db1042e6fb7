/** A message that a stage has changed or left out. */
interface Changed<One> {
  readonly one: One;
  /** Among the messages before the stage. */
  readonly place: number;
}

/** Messages by keys, in the order of their places, each of which is taken once. */
export class ChangedMessages<One> {
  readonly #byKey: Map<string, Changed<One>[]> = new Map();
  /** By key and index: where to look for the next that may not be taken yet. */
  readonly #nexts: Map<string, number[]> = new Map();
  readonly #taken: Set<One> = new Set();

  /** Enters a message that stands behind all that were entered before. */
  add(one: One, place: number, keys: Iterable<string>): void {
    for (const key of new Set(keys)) {
      const all = this.#byKey.get(key) ?? [];
      this.#byKey.set(key, all);
      all.push({ one, place });
    }
  }

  /** Takes the first message with one of the keys that stands between two places (exclusive). */
  take(keys: Iterable<string>, after: number, before: number): One | undefined {
    let first: Changed<One> | undefined;
    for (const key of keys) {
      const found = this.#find(key, after);
      if (found !== undefined && found.place < (first?.place ?? before)) first = found;
    }
    if (first !== undefined) this.#taken.add(first.one);
    return first?.one;
  }

  #find(key: string, after: number): Changed<One> | undefined {
    const all = this.#byKey.get(key);
    if (all === undefined) return undefined;
    let low = 0;
    for (let high = all.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((all[middle] as Changed<One>).place <= after) low = middle + 1;
      else high = middle;
    }
    // What was passed once is passed at once the next time.
    const nexts = this.#nexts.get(key) ?? [];
    this.#nexts.set(key, nexts);
    const passed: number[] = [];
    while (low < all.length && this.#taken.has((all[low] as Changed<One>).one)) {
      passed.push(low);
      low = nexts[low] ?? low + 1;
    }
    for (const index of passed) nexts[index] = low;
    return all[low];
  }
}
