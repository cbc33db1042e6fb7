/**
 * Items by ascending position, for positions that only grow: appending, looking up and deleting cost O(1), and finding
 * where a range begins costs O(log n).
 */
export class Timeline<T> {
  readonly #items: Map<number, T> = new Map();
  /** Ascending; may still hold positions that were deleted. */
  #positions: number[] = [];

  get size(): number {
    return this.#items.size;
  }

  get(position: number): T | undefined {
    return this.#items.get(position);
  }

  /** `position` must exceed every position that was ever appended. */
  append(position: number, item: T): void {
    this.#items.set(position, item);
    this.#positions.push(position);
  }

  delete(position: number): void {
    this.#items.delete(position);
    if (this.#positions.length > 32 && this.#positions.length > 2 * this.#items.size) {
      this.#positions = this.#positions.filter((kept) => this.#items.has(kept));
    }
  }

  /** The items strictly between two positions. Must not be changed while it is read. */
  *between(after: number, before: number, order: "ascending" | "descending"): Generator<T> {
    const first = this.#countUpTo(after);
    const end = this.#countUpTo(before - 1);
    const step = order === "ascending" ? 1 : -1;
    for (let index = step === 1 ? first : end - 1; index >= first && index < end; index += step) {
      const position = this.#positions[index];
      const item = position === undefined ? undefined : this.#items.get(position);
      if (item !== undefined) yield item;
    }
  }

  /** How many of `#positions` are at or below `position`. */
  #countUpTo(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#positions[middle] as number) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
