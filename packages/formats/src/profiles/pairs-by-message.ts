import type { MessageFormat } from "@turnkeep/core";
import { type AskedCall, CallsById } from "@turnkeep/core/processors";

/** Pairs the results of a list with its calls, message by message. Answers directly after one another are one answer. */
export class PairsByMessage<M, Call> {
  readonly #format: MessageFormat<M>;
  readonly #calls: CallsById<Call> = new CallsById();
  /** The calls of the answers directly before the next message. */
  #askedLast: AskedCall<Call>[] = [];

  constructor(format: MessageFormat<M>) {
    this.#format = format;
  }

  /** Takes in the next message and its calls; gives each of its results the call that it answers, if one waits. */
  enter(message: M, calls: readonly AskedCall<Call>[]): (Call | undefined)[] {
    const results = this.#format.toolResults(message);
    // Results beside calls answer those first.
    const isAnswer = this.#format.role(message) === "assistant" && results.length === 0;
    if (!isAnswer) this.#endAnswer();
    for (const call of calls) this.#askedLast.push(call);
    if (!isAnswer) this.#endAnswer();
    return results.map(({ id, name }) => this.#calls.take(id, name));
  }

  /** The calls that no result has answered. */
  waiting(): Iterable<Call> {
    this.#endAnswer();
    return this.#calls.waiting();
  }

  #endAnswer(): void {
    this.#calls.askTogether(this.#askedLast);
    this.#askedLast = [];
  }
}
