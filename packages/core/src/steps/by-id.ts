import { Line } from "./line.ts";

/** Values by an id that they share, oldest first. */
export class ById<T> {
  /** A value by itself, as nearly all are, or several. */
  readonly #held: Map<string, T | Line<T>> = new Map();

  all(id: string): Iterable<T> {
    const held = this.#held.get(id);
    if (held === undefined) return none;
    return held instanceof Line ? held : [held];
  }

  newest(id: string): T | undefined {
    const held = this.#held.get(id);
    return held instanceof Line ? held.newest : held;
  }

  /** Puts a value last. */
  push(id: string, value: T): void {
    const held = this.#held.get(id);
    if (held === undefined) this.#held.set(id, value);
    else if (held instanceof Line) held.push(value);
    else this.#held.set(id, new Line(held, value));
  }

  /** Puts a value last, unless it is. */
  add(id: string, value: T): void {
    if (this.newest(id) !== value) this.push(id, value);
  }

  /** Takes out the newest value. */
  pop(id: string): T | undefined {
    const held = this.#held.get(id);
    const newest = held instanceof Line ? held.pop() : held;
    if (!(held instanceof Line) || held.isEmpty) this.#held.delete(id);
    return newest;
  }

  /** Does nothing for a value that is not there. */
  delete(id: string, value: T): void {
    const held = this.#held.get(id);
    if (held instanceof Line) held.delete(value);
    if (held === value || (held instanceof Line && held.isEmpty)) this.#held.delete(id);
  }

  /** All values, id by id. */
  *values(): Generator<T, undefined> {
    for (const held of this.#held.values()) {
      if (held instanceof Line) yield* held;
      else yield held;
    }
  }
}

const none: readonly [] = [];
