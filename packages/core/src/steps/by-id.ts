import { append } from "../values.ts";

/** Values by an id that they share, oldest first. */
export class ById<T> {
  readonly #lists: Map<string, T[]> = new Map();

  get(id: string): readonly T[] {
    return this.#lists.get(id) ?? none;
  }

  /** Puts a value last. */
  push(id: string, value: T): void {
    append(this.#lists, id, value);
  }

  /** Puts a value last, unless it is. */
  add(id: string, value: T): void {
    if (this.get(id).at(-1) !== value) this.push(id, value);
  }

  /** Takes out the last value. */
  pop(id: string): T | undefined {
    const list = this.#lists.get(id);
    const last = list?.pop();
    if (list?.length === 0) this.#lists.delete(id);
    return last;
  }

  /** Does nothing for a value that is not there. The oldest and the newest, which nearly all are, cost no search. */
  delete(id: string, value: T): void {
    const list = this.#lists.get(id);
    if (list === undefined) return;
    if (list[0] === value) list.shift();
    else {
      const index = list.lastIndexOf(value);
      if (index >= 0) list.splice(index, 1);
    }
    if (list.length === 0) this.#lists.delete(id);
  }

  /** All values, id by id. */
  *values(): Generator<T, undefined> {
    for (const list of this.#lists.values()) yield* list;
  }
}

const none: readonly [] = [];
