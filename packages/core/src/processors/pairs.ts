import { ById } from "../steps/by-id.ts";
import type { Item } from "../steps/item.ts";
import { CallsById } from "../steps/pairing.ts";

/**
 * A call, with the message that makes it; or all calls of a message that share an id, which is all that tells calls
 * apart.
 */
export interface PairedCall {
  readonly names: string[];
  /** Its message's index. */
  readonly at: number;
}

/**
 * Two messages that belong together, by index: the one that answers and the one that asked, or two that asked directly
 * after one another and are answered together.
 */
export type Bond = readonly [at: number, callAt: number];

/** How a message relates to calls. */
export interface MessagePairs {
  /** The calls that it makes, by id. */
  readonly calls: ReadonlyMap<string, PairedCall>;
  /** The calls that its results answer, by id; `undefined` for a result without a call. */
  readonly results: ReadonlyMap<string, PairedCall | undefined>;
  /** The calls that its responses to approval requests are about, by the request's id. */
  readonly approvals: ReadonlyMap<string, PairedCall | undefined>;
  /** The pairs that it reveals, with or between earlier messages. */
  readonly bonds: readonly Bond[];
  /** What preceded it. */
  readonly run: CallRun;
}

/** The messages that made calls directly after one another, and the first of them that was answered. */
interface CallRun {
  readonly callers: Set<number>;
  readonly answered: number | undefined;
}

/** The results of a message that come before their call. */
interface EarlyResults {
  readonly at: number;
  readonly results: Map<string, PairedCall | undefined>;
}

interface ApprovalRequest {
  readonly at: number;
  readonly call: PairedCall;
}

// Shared, because most messages have none.
const noPairs: ReadonlyMap<string, PairedCall> = new Map();

/** Pairs the messages of a list, one after the other. A result that comes too early goes with the first call after it. */
export class Pairing {
  readonly #calls: CallsById<PairedCall> = new CallsById();
  readonly #requests: ById<ApprovalRequest> = new ById();
  readonly #early: ById<EarlyResults> = new ById();
  #run: CallRun = { callers: new Set(), answered: undefined };

  /** Takes in the next message. */
  enter<M>(item: Item<M>): MessagePairs {
    const run = this.#run;
    const bonds: Bond[] = [];
    const calls = item.calls.length === 0 ? noPairs : this.#ask(item, bonds);
    const results = item.results.length === 0 ? noPairs : this.#answer(item);
    const approvals = item.approvals.length === 0 ? noPairs : this.#approve(item);
    for (const paired of [results, approvals])
      for (const call of paired.values()) if (call !== undefined) bonds.push([item.seq, call.at]);
    this.#goOn(item, results, bonds);
    return { calls, results, approvals, bonds, run };
  }

  /** Forgets the newest message, with which no message is paired that stays. */
  leave<M>({ seq: at, calls, approvals }: Item<M>, pairs: MessagePairs): void {
    for (const { id } of calls) this.#calls.forget(id, pairs.calls.get(id) as PairedCall);
    for (const id of pairs.results.keys()) if (this.#early.newest(id)?.at === at) this.#early.pop(id);
    for (const { approvalId } of approvals)
      if (this.#requests.newest(approvalId)?.at === at) this.#requests.pop(approvalId);
    this.#run = pairs.run;
    this.#run.callers.delete(at);
  }

  #ask<M>({ seq: at, calls: made }: Item<M>, bonds: Bond[]): Map<string, PairedCall> {
    const calls = new Map<string, PairedCall>();
    for (const { id, name } of made) {
      const twin = calls.get(id);
      twin?.names.push(name);
      const call = twin ?? { names: [name], at };
      calls.set(id, call);
      this.#calls.ask(id, call);
      for (let early = this.#early.pop(id); early !== undefined; early = this.#early.pop(id)) {
        this.#calls.settle(id, call);
        early.results.set(id, call);
        bonds.push([early.at, at]);
      }
    }
    return calls;
  }

  #answer<M>({ seq: at, results: given }: Item<M>): Map<string, PairedCall | undefined> {
    const results = new Map<string, PairedCall | undefined>();
    const early = { at, results };
    for (const { id } of given) {
      const call = this.#calls.answer(id);
      results.set(id, call);
      if (call === undefined) this.#early.add(id, early);
    }
    return results;
  }

  #approve<M>({ seq: at, approvals: given }: Item<M>): Map<string, PairedCall | undefined> {
    const approvals = new Map<string, PairedCall | undefined>();
    for (const approval of given) {
      const { approvalId } = approval;
      if (approval.kind === "response") {
        approvals.set(approvalId, this.#requests.newest(approvalId)?.call);
        continue;
      }
      const call = this.#calls.callOf(approval.toolCallId);
      if (call !== undefined) this.#requests.add(approvalId, { at, call });
    }
    return approvals;
  }

  #goOn<M>(item: Item<M>, results: MessagePairs["results"], bonds: Bond[]): void {
    let { callers, answered } = this.#run;
    for (const call of results.values()) {
      if (call === undefined || !callers.has(call.at)) continue;
      answered ??= call.at;
      if (call.at !== answered) bonds.push([call.at, answered]);
    }
    const { role, seq: at, calls } = item;
    if (role !== "tool") {
      const isAnswer = role === "assistant" && item.results.length === 0;
      if (!isAnswer || answered !== undefined) [callers, answered] = [new Set(), undefined];
      if (isAnswer && calls.length > 0) callers.add(at);
    }
    if (callers !== this.#run.callers || answered !== this.#run.answered) this.#run = { callers, answered };
  }
}
