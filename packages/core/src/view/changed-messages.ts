/** Places of messages that a stage has changed or left out, by keys; each place is taken once. */
export class ChangedMessages {
  readonly #byKey: Map<string, Places> = new Map();
  readonly #taken: Set<number> = new Set();

  /** Enters a place behind all that were entered before. */
  add(place: number, keys: Iterable<string>): void {
    for (const key of new Set(keys)) {
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, { all: [place], nexts: [] });
      else known.all.push(place);
    }
  }

  /** Takes the first place with one of the keys between two places (exclusive). */
  take(keys: Iterable<string>, after: number, before: number): number | undefined {
    let first: number | undefined;
    for (const key of keys) {
      const found = this.#find(key, after);
      if (found !== undefined && found < (first ?? before)) first = found;
    }
    if (first !== undefined) this.#taken.add(first);
    return first;
  }

  #find(key: string, after: number): number | undefined {
    const { all, nexts } = this.#byKey.get(key) ?? none;
    let low = 0;
    for (let high = all.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((all[middle] as number) <= after) low = middle + 1;
      else high = middle;
    }
    // What was passed once is passed at once the next time.
    const passed: number[] = [];
    while (this.#taken.has(all[low] as number)) {
      passed.push(low);
      low = nexts[low] ?? low + 1;
    }
    for (const index of passed) nexts[index] = low;
    return all[low];
  }
}

interface Places {
  readonly all: number[];
  /** By index: where to look for the next that may not be taken yet. */
  readonly nexts: number[];
}

const none: Places = { all: [], nexts: [] };
