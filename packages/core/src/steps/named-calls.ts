import { type CallShape, type ResultShape, Visitor, withMember } from "../format/visitor.ts";
import { deepFreeze } from "./deep-freeze.ts";
import type { Item, ItemFacts } from "./item.ts";
import type { Step } from "./step.ts";

/** A call of the newest answer, as a result that names its tool alone may find it. */
interface NamedCall {
  readonly id: string;
  /** Whether the message has the id: without one, the format made it of the tool's name. */
  readonly isGiven: boolean;
}

interface NamedResult extends NamedCall {
  readonly name: string | undefined;
  /** The member that takes an id, or has one. */
  readonly member: string | undefined;
}

/** The calls of one tool, and the first of them that may still wait for a result. */
interface ToolCalls {
  readonly calls: NamedCall[];
  first: number;
}

/**
 * Finds the calls of results that bear no id although their call has one, and of those that bear one although their call
 * has none: a result without an id answers the first call of its tool in the newest answer that waits for one. That is
 * how the documents of Ollama answer a call (https://docs.ollama.com/capabilities/tool-calling), while its server gives it an id.
 */
export class NamedCalls<M> {
  #step: Step<M> | undefined;
  /** How many messages of the step are known. */
  #known = 0;
  #byTool: Map<string, ToolCalls> = new Map();

  /** The message with the ids of the calls that its results answer; itself where they have them. */
  answering<T extends ItemFacts<M>>(item: T, step: Step<M>, isMade: (id: string) => boolean): T {
    const { message, format } = item;
    if (message === undefined || format?.visit === undefined) return item;
    const found = new Results();
    format.visit(message, found);
    this.#read(step);
    const calls = this.#callsFor(found.results, step, isMade);
    if (!calls.some((call) => call !== undefined)) return item;
    const changed = format.visit(message, new UnderCallIds(calls)) as M;
    const results = format.toolResults(changed);
    if (results.every(({ id }, at) => id === item.results[at]?.id)) return item;
    return { ...item, message: deepFreeze(changed), results, given: item };
  }

  #callsFor(
    results: readonly NamedResult[],
    step: Step<M>,
    isMade: (id: string) => boolean,
  ): (NamedCall | undefined)[] {
    const taken = new Map<string, number>();
    const take = (id: string): void => void taken.set(id, (taken.get(id) ?? 0) + 1);
    for (const { id, isGiven } of results) if (isGiven && isMade(id)) take(id);
    const claimed = new Set<NamedCall>();
    // For results with an id, and for those without: either pass calls that the other may answer.
    const next = { given: new Map<ToolCalls, number>(), named: new Map<ToolCalls, number>() };
    return results.map(({ id, name, isGiven, member }) => {
      const of = this.#byTool.get(name ?? "");
      if (of === undefined || member === undefined || (isGiven && isMade(id))) return undefined;
      while (of.first < of.calls.length && !waits(step, (of.calls[of.first] as NamedCall).id, 0)) of.first++;
      const from = isGiven ? next.given : next.named;
      let at = from.get(of) ?? of.first;
      const isIt = (call: NamedCall): boolean =>
        !claimed.has(call) && !(isGiven && call.isGiven) && waits(step, call.id, taken.get(call.id) ?? 0);
      while (at < of.calls.length && !isIt(of.calls[at] as NamedCall)) at++;
      from.set(of, at + 1);
      // One result more is another of the newest such call.
      const call = of.calls[at] ?? (isGiven ? undefined : of.calls.at(-1));
      if (call !== undefined) {
        take(call.id);
        claimed.add(call);
      }
      return call?.isGiven === isGiven ? undefined : call;
    });
  }

  #read(step: Step<M>): void {
    if (this.#step !== step) {
      this.#step = step;
      this.#known = 0;
      this.#byTool = new Map();
    }
    const found = new Calls();
    for (; this.#known < step.items.length; this.#known++) {
      const { format, calls, message } = step.items[this.#known] as Item<M>;
      if (calls.length > 0 && message !== undefined) format?.visit?.(message, found);
    }
    for (const { name, ...call } of found.calls) {
      const of = this.#byTool.get(name) ?? { calls: [], first: 0 };
      of.calls.push(call);
      this.#byTool.set(name, of);
    }
  }
}

/** An item as it was added, before its calls were found. */
export function asAdded<M>(item: Item<M>): Item<M> {
  const { given } = item;
  if (given === undefined) return item;
  return { ...item, message: given.message, results: given.results, given: undefined };
}

function waits<M>({ calls, answers }: Step<M>, id: string, taken: number): boolean {
  return (answers.get(id)?.results ?? 0) + taken < (calls.get(id)?.made ?? 0);
}

class Calls extends Visitor {
  readonly calls: (NamedCall & { readonly name: string })[] = [];

  override call<P extends object>(part: P, { ref, id: member }: CallShape<P>): P {
    const { id, name, providerExecuted } = ref(part);
    if (providerExecuted !== true) this.calls.push({ id, name, isGiven: member !== undefined });
    return part;
  }
}

class Results extends Visitor {
  readonly results: NamedResult[] = [];

  override result<P extends object>(part: P, { ref, id: given, idAt }: ResultShape<P>): P {
    const { id, name } = ref(part);
    this.results.push({ id, name, isGiven: given !== undefined, member: given ?? idAt });
    return part;
  }
}

/** Gives each result, in order, the id of its call, or takes it away where the call has none. */
class UnderCallIds extends Visitor {
  readonly #calls: readonly (NamedCall | undefined)[];
  #at = 0;

  constructor(calls: readonly (NamedCall | undefined)[]) {
    super();
    this.#calls = calls;
  }

  override result<P extends object>(part: P, { id, idAt }: ResultShape<P>): P {
    const call = this.#calls[this.#at++];
    const member = id ?? idAt;
    if (call === undefined || member === undefined) return part;
    if (call.isGiven) return withMember(part, member, call.id);
    const { [member]: _, ...rest } = part as Record<string, unknown>;
    return rest as P;
  }
}
