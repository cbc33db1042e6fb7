import { Line } from "./line.ts";

/** Values by an id that they share, oldest first. */
export class ById<T> {
  readonly #lines: Map<string, Line<T>> = new Map();

  all(id: string): Iterable<T> {
    return this.#lines.get(id) ?? none;
  }

  newest(id: string): T | undefined {
    return this.#lines.get(id)?.newest;
  }

  /** Puts a value last. */
  push(id: string, value: T): void {
    let line = this.#lines.get(id);
    if (line === undefined) {
      line = new Line();
      this.#lines.set(id, line);
    }
    line.push(value);
  }

  /** Puts a value last, unless it is. */
  add(id: string, value: T): void {
    if (this.newest(id) !== value) this.push(id, value);
  }

  /** Takes out the newest value. */
  pop(id: string): T | undefined {
    const line = this.#lines.get(id);
    const newest = line?.pop();
    if (line?.isEmpty) this.#lines.delete(id);
    return newest;
  }

  /** Does nothing for a value that is not there. */
  delete(id: string, value: T): void {
    const line = this.#lines.get(id);
    line?.delete(value);
    if (line?.isEmpty) this.#lines.delete(id);
  }

  /** All values, id by id. */
  *values(): Generator<T, undefined> {
    for (const line of this.#lines.values()) yield* line;
  }
}

const none: readonly [] = [];
