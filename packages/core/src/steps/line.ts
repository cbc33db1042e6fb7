import { append } from "../values.ts";

/** Where a value was taken out from between others. */
const gap: unique symbol = Symbol("gap");

/** More gaps than this, and than values, are closed. */
const mostGaps = 32;

/**
 * Values in the order in which they came. One costs as much to take out among many as among few, wherever it is: ids are
 * what a model or a caller makes them, so any number of values may share one.
 */
export class Line<T> {
  #all: (T | typeof gap)[];
  /** Where the oldest is. */
  #first = 0;
  #gaps = 0;
  /** By value, the places where it was put, of which some may hold it no longer. Only once one between others was asked for. */
  #places: Map<T, number[]> | undefined;

  constructor(...values: readonly T[]) {
    this.#all = [...values];
  }

  get isEmpty(): boolean {
    return this.#gaps === this.#all.length;
  }

  get newest(): T | undefined {
    return this.#all.at(-1) as T | undefined;
  }

  /** Puts a value last. */
  push(value: T): void {
    if (this.#places !== undefined) append(this.#places, value, this.#all.length);
    this.#all.push(value);
  }

  /** Takes out the newest. */
  pop(): T | undefined {
    const value = this.#all.pop() as T | undefined;
    this.#places?.get(value as T)?.pop();
    while (this.#all.at(-1) === gap) {
      this.#all.pop();
      this.#gaps--;
    }
    this.#first = Math.min(this.#first, this.#all.length);
    return value;
  }

  /** Takes out a value: the oldest, if it is that, else where it came last. Does nothing for one that is not there. */
  delete(value: T): void {
    const place = this.#all[this.#first] === value ? this.#first : this.#lastPlaceOf(value);
    if (place === this.#all.length - 1) this.pop();
    else if (place !== undefined) this.#leaveGap(place);
  }

  *[Symbol.iterator](): Generator<T, undefined> {
    for (let at = this.#first; at < this.#all.length; at++) {
      const value = this.#all[at] as T | typeof gap;
      if (value !== gap) yield value;
    }
  }

  #leaveGap(place: number): void {
    this.#all[place] = gap;
    this.#gaps++;
    while (this.#all[this.#first] === gap) this.#first++;
    if (this.#gaps > mostGaps && 2 * this.#gaps > this.#all.length) this.#close();
  }

  #lastPlaceOf(value: T): number | undefined {
    if (this.newest === value) return this.#all.length - 1;
    this.#places ??= this.#placesByValue();
    const places = this.#places.get(value) ?? [];
    let place = places.pop();
    while (place !== undefined && this.#all[place] !== value) place = places.pop();
    return place;
  }

  #placesByValue(): Map<T, number[]> {
    const places = new Map<T, number[]>();
    for (let at = this.#first; at < this.#all.length; at++) append(places, this.#all[at] as T, at);
    return places;
  }

  #close(): void {
    this.#all = [...this];
    this.#first = 0;
    this.#gaps = 0;
    this.#places = undefined;
  }
}
