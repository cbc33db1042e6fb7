import type { AgentInputItem, RunContext } from "@openai/agents-core";
import type { ChatMemory } from "@turnkeep/core";
import { type Recorded, recordOf } from "./record.ts";
import { Run } from "./run.ts";

// biome-ignore lint/suspicious/noExplicitAny: a run's context is of whatever type the application's is
export type AnyContext = RunContext<any>;

/**
 * Which run a call of the runner belongs to. A session's calls carry the run's context, and a model call's filter what the
 * application gave as that context, if anything; they meet in the objects that `getItems` handed out.
 */
export class Runs {
  #byContext: WeakMap<AnyContext, Run> = new WeakMap();
  #byItem: WeakMap<AgentInputItem, Run> = new WeakMap();
  /** Runs that have read and asked no model yet. */
  #begun: Linked[] = [];
  /** Runs of which no object tells the context: the first of a conversation, and one that goes on from JSON. */
  #guessed: Linked[] = [];

  /** The runner has read the past, to begin a run or to compare. */
  read(record: readonly Recorded[], items: readonly AgentInputItem[], context: AnyContext | undefined): void {
    const known = this.ofContext(context);
    const run = known ?? new Run();
    run.read(record, items);
    for (const item of items) this.#byItem.set(item, run);
    if (context !== undefined) this.#byContext.set(context, run);
    if (known === undefined) this.#begun = lastOf(this.#begun, { run, context });
  }

  /** The run whose model is about to be called with that input. */
  async ofInput(
    input: readonly AgentInputItem[],
    given: unknown,
    memory: ChatMemory<AgentInputItem>,
  ): Promise<Run> {
    const holder = input.find((item) => this.#byItem.has(item));
    const run = (holder && this.#byItem.get(holder)) ?? (await this.#guess(given, memory));
    this.#begun = this.#begun.filter((linked) => linked.run !== run);
    for (const item of input) this.#byItem.set(item, run);
    return run;
  }

  /** The run that a call with that context is of. */
  ofContext(context: AnyContext | undefined): Run | undefined {
    return context && this.#byContext.get(context);
  }

  /** The run that hands these items over. A call without a context may be the application's own. */
  handing(items: readonly AgentInputItem[], context: AnyContext | undefined): Run | undefined {
    const own = this.ofContext(context);
    if (own?.expects(items)) return own;
    const others = this.#guessed.filter((linked) => context !== undefined || linked.context === undefined);
    return others.find(({ run }) => run.expects(items))?.run ?? own;
  }

  /** Of a conversation that is deleted nothing is known. */
  clear(): void {
    this.#byContext = new WeakMap();
    this.#byItem = new WeakMap();
    this.#begun = [];
    this.#guessed = [];
  }

  async #guess(given: unknown, memory: ChatMemory<AgentInputItem>): Promise<Run> {
    const fits = ({ context }: Linked): boolean => context !== undefined && context.context === given;
    const begun = this.#begun.find(fits) ?? this.#begun.find(({ context }) => context === undefined);
    const linked = begun ?? { run: new Run(), context: undefined };
    this.#guessed = lastOf(this.#guessed, linked);
    // All of the past was copied, or there is none.
    if (begun === undefined || begun.run.readThrough > 0) linked.run.read(await recordOf(memory));
    return linked.run;
  }
}

interface Linked {
  readonly run: Run;
  readonly context: AnyContext | undefined;
}

/** Whoever reads without a run behind it is never asked for, so only so many are remembered. */
function lastOf(list: readonly Linked[], linked: Linked): Linked[] {
  return [...list.slice(-15), linked];
}
