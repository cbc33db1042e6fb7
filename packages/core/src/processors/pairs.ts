import type { Item } from "../steps/item.ts";

/**
 * A call, with the message that makes it; or all calls of a message that share an id, which is all that tells calls
 * apart.
 */
export interface PairedCall {
  readonly names: string[];
  /** Its message's index. */
  readonly at: number;
}

/** How a message relates to calls. */
export interface Pairs {
  /** The calls that it makes, by id. */
  readonly calls: ReadonlyMap<string, PairedCall>;
  /** The calls that its results answer, by id; `undefined` for a result without a call. */
  readonly results: ReadonlyMap<string, PairedCall | undefined>;
  /** The calls that its responses to approval requests are about, by the request's id. */
  readonly approvals: ReadonlyMap<string, PairedCall | undefined>;
}

/**
 * Two messages that belong together, by index: the one that answers and the one that asked, or two that asked directly
 * after one another and are answered together.
 */
export type Bond = readonly [at: number, callAt: number];

/** Results that came before their call. */
interface Early {
  readonly at: number;
  readonly results: Map<string, PairedCall | undefined>;
}

/**
 * Pairs each result with its call, message by message: the newest earlier call of its id that waits for an answer, else
 * the newest, since some providers reuse ids. A result that came too early goes with the first call after it.
 */
export class Pairing {
  /** By id, the newest call. */
  readonly #asked: Map<string, PairedCall> = new Map();
  /** By id, the calls that wait for an answer, the newest last. */
  readonly #waiting: Map<string, PairedCall[]> = new Map();
  readonly #requests: Map<string, PairedCall> = new Map();
  readonly #early: Map<string, Early[]> = new Map();
  /** The messages that made calls directly after one another, and the first of them that was answered. */
  #run: Set<number> = new Set();
  #answered: number | undefined;

  /** Takes in the next message; `bonds` are the pairs that it reveals, with or between earlier messages. */
  enter<M>(item: Item<M>): Pairs & { readonly bonds: readonly Bond[] } {
    const at = item.seq;
    const bonds: Bond[] = [];
    const calls = new Map<string, PairedCall>();
    for (const { id, name } of item.calls) {
      const early = this.#early.get(id) ?? [];
      const twin = calls.get(id);
      twin?.names.push(name);
      const call = twin ?? { names: [name], at };
      calls.set(id, call);
      this.#asked.set(id, call);
      if (early.length === 0) listIn(this.#waiting, id).push(call);
      for (const { at: before, results } of early) {
        results.set(id, call);
        bonds.push([before, at]);
      }
      this.#early.delete(id);
    }
    const results = new Map<string, PairedCall | undefined>();
    for (const { id } of item.results) {
      const call = this.#waiting.get(id)?.pop() ?? this.#asked.get(id);
      results.set(id, call);
      if (call === undefined) listIn(this.#early, id).push({ at, results });
    }
    const approvals = new Map<string, PairedCall | undefined>();
    for (const approval of item.approvals) {
      const { approvalId } = approval;
      if (approval.kind === "request") {
        const call = this.#asked.get(approval.toolCallId);
        if (call !== undefined) this.#requests.set(approvalId, call);
        continue;
      }
      approvals.set(approvalId, this.#requests.get(approvalId));
    }
    for (const call of [...results.values(), ...approvals.values()]) {
      if (call !== undefined) bonds.push([at, call.at]);
    }
    for (const call of results.values()) {
      if (call === undefined || !this.#run.has(call.at)) continue;
      this.#answered ??= call.at;
      if (call.at !== this.#answered) bonds.push([call.at, this.#answered]);
    }
    this.#goOn(item);
    return { calls, results, approvals, bonds };
  }

  #goOn<M>({ role, seq: at, calls, results }: Item<M>): void {
    if (role === "tool") return;
    const isAnswer = role === "assistant" && results.length === 0;
    if (!isAnswer || this.#answered !== undefined) {
      this.#run = new Set();
      this.#answered = undefined;
    }
    if (isAnswer && calls.length > 0) this.#run.add(at);
  }
}

function listIn<T>(lists: Map<string, T[]>, id: string): T[] {
  const list = lists.get(id) ?? [];
  lists.set(id, list);
  return list;
}
