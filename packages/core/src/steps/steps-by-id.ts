import type { Step } from "./step.ts";

/** Steps by an id that they hold, oldest first: several may hold the same one. */
export class StepsById<M> {
  readonly #steps: Map<string, Step<M>[]> = new Map();

  get(id: string): readonly Step<M>[] {
    return this.#steps.get(id) ?? none;
  }

  /** Enters a step under an id, once. */
  add(id: string, step: Step<M>): void {
    const steps = this.#steps.get(id);
    if (steps === undefined) this.#steps.set(id, [step]);
    else if (!steps.includes(step)) steps.push(step);
  }

  delete(id: string, step: Step<M>): void {
    const rest = this.get(id).filter((other) => other !== step);
    if (rest.length === 0) this.#steps.delete(id);
    else this.#steps.set(id, rest);
  }
}

const none: readonly [] = [];
