import type { Step } from "./step.ts";

/** Steps by an id that they hold, oldest first: several may hold the same one. */
export class StepsById<M> {
  readonly #steps: Map<string, Step<M>[]> = new Map();

  get(id: string): readonly Step<M>[] {
    return this.#steps.get(id) ?? none;
  }

  /** Enters a step under an id, unless it was the last that was. */
  add(id: string, step: Step<M>): void {
    const steps = this.#steps.get(id);
    if (steps === undefined) this.#steps.set(id, [step]);
    else if (steps.at(-1) !== step) steps.push(step);
  }

  /** Does nothing for a step that is not there. The oldest and the newest, which nearly all are, cost no search. */
  delete(id: string, step: Step<M>): void {
    const steps = this.#steps.get(id);
    if (steps === undefined) return;
    if (steps[0] === step) steps.shift();
    else {
      const place = steps.lastIndexOf(step);
      if (place >= 0) steps.splice(place, 1);
    }
    if (steps.length === 0) this.#steps.delete(id);
  }
}

const none: readonly [] = [];
