import type { AgentInputItem } from "@openai/agents-core";
import type { ChatMemory } from "@turnkeep/core";
import { type Recorded, recordOf } from "./record.ts";
import { type AnyContext, Run } from "./run.ts";

/**
 * Which run a call of the runner belongs to. A session's calls carry the run's context, and a model call's filter what the
 * application gave as that context, if anything; they meet in the objects that `getItems` handed out.
 */
export class Runs {
  readonly #byContext: WeakMap<AnyContext, Run> = new WeakMap();
  /** By the runner's items, and by what the application gave as context: where all items were copied, that is left. */
  readonly #byObject: WeakMap<object, Run> = new WeakMap();
  /** The same of runs that have read without a context. */
  #bareByObject: WeakMap<object, Run> = new WeakMap();
  /** Runs that have read and asked no model yet. */
  #begun: Run[] = [];
  /** Runs of which no object tells the context: the first of a conversation, and one that goes on from JSON. */
  #guessed: Run[] = [];

  /** The runner has read the past, to begin a run or to compare. */
  read(record: readonly Recorded[], items: readonly AgentInputItem[], context: AnyContext | undefined): void {
    const known = this.ofContext(context);
    const run = known ?? new Run(context, context === undefined);
    run.read(record, items);
    this.#hold(items, run);
    if (context !== undefined) this.#byContext.set(context, run);
    if (known === undefined) this.#begun = lastOf(this.#begun, run);
  }

  /** The run whose model is about to be called with that input. */
  async ofInput(
    input: readonly AgentInputItem[],
    given: unknown,
    memory: ChatMemory<AgentInputItem>,
  ): Promise<Run> {
    const holder = input.find((item) => this.#holderOf(item) !== undefined);
    const run = this.#holderOf(holder) ?? (await this.#guess(given, memory));
    this.#begun = this.#begun.filter((begun) => begun !== run);
    this.#hold(typeof given === "object" && given !== null ? [...input, given] : input, run);
    return run;
  }

  #hold(objects: readonly object[], run: Run): void {
    const runs = run.isBare ? this.#bareByObject : this.#byObject;
    for (const object of objects) runs.set(object, run);
  }

  /** The run that a call with that context is of. */
  ofContext(context: AnyContext | undefined): Run | undefined {
    return context && this.#byContext.get(context);
  }

  /** The run that hands these items over. A call without a context may be the application's own. */
  handing(items: readonly AgentInputItem[], context: AnyContext | undefined): Run | undefined {
    const own = this.ofContext(context);
    const hasAsked = own === undefined || !this.#begun.includes(own);
    const others = this.#guessed.filter(({ context: of }) =>
      of === undefined ? hasAsked : of.context === context?.context,
    );
    let [handing, most] = [own, own?.awaits(items) ?? 0];
    for (const run of others) {
      const awaited = run.awaits(items);
      if (awaited > most) [handing, most] = [run, awaited];
    }
    return handing;
  }

  /**
   * What is under way stays bound to the conversation that was deleted. A session around this one passes no context, and
   * clears to put other items in: then nothing is known.
   */
  clear(): void {
    this.#bareByObject = new WeakMap();
    this.#begun = this.#begun.filter(({ context }) => context !== undefined);
    this.#guessed = this.#guessed.filter(({ context }) => context !== undefined);
  }

  async #guess(given: unknown, memory: ChatMemory<AgentInputItem>): Promise<Run> {
    const run =
      this.#begun.find(({ context }) => context !== undefined && context.context === given) ??
      this.#holderOf(given) ??
      this.#begun.find(({ context }) => context === undefined) ??
      new Run();
    const others = this.#guessed.filter((guessed) => guessed !== run);
    this.#guessed = lastOf(others, run);
    // One that goes on from JSON has read nothing here. What others have said since a run read is none of its input.
    if (run.readThrough === undefined) run.read(await recordOf(memory));
    return run;
  }

  #holderOf(object: unknown): Run | undefined {
    return this.#byObject.get(object as object) ?? this.#bareByObject.get(object as object);
  }
}

/** Whoever reads without a run behind it is never asked for, so only so many are remembered. */
function lastOf(runs: readonly Run[], run: Run): Run[] {
  return [...runs.slice(-15), run];
}
