import { beforeBorder } from "./border.ts";
import { dropFrom, type ListSteps } from "./list-steps.ts";
import type { ListState } from "./message-list.ts";
import type { Bond } from "./pairs.ts";

/** The steps of a list that hold messages of some kind. */
export class StepsHolding<M> implements ListState {
  readonly #steps: ListSteps<M>;
  readonly #isSuch: (at: number) => boolean;
  /** Ascending, as are the places of their steps. */
  readonly #messages: number[] = [];
  #places: number[] = [];
  #length = 0;
  #early: Bond | undefined;

  constructor(steps: ListSteps<M>, isSuch: (at: number) => boolean) {
    this.#steps = steps;
    this.#isSuch = isSuch;
  }

  /** Takes in what is new; returns whether older messages now belong to other steps. */
  grow(): boolean {
    const { items, early } = this.#steps;
    for (; this.#length < items.length; this.#length++) {
      if (!this.#isSuch(this.#length)) continue;
      this.#messages.push(this.#length);
      this.#enter(this.#length);
    }
    if (early.at(-1) === this.#early) return false;
    this.#early = early.at(-1);
    this.#places = [];
    for (const at of this.#messages) this.#enter(at);
    return true;
  }

  cut(length: number): void {
    this.#length = Math.min(this.#length, length);
    dropFrom(this.#messages, length);
    dropFrom(this.#places, length);
  }

  /** The place of the first of the newest `keep` of them, on the border's grid; `undefined` if there are none. */
  newest(keep: number): number | undefined {
    return this.#places[beforeBorder(this.#places.length, keep)];
  }

  #enter(at: number): void {
    const place = this.#steps.placeOf(at);
    let index = this.#places.length;
    while (index > 0 && (this.#places[index - 1] as number) > place) index--;
    if (this.#places[index - 1] !== place) this.#places.splice(index, 0, place);
  }
}
