import type { MessageFormat } from "../message-format.ts";
import { statePerList } from "./growing-list.ts";

/** What is shown of a growing list; decides only once about the part of it that can no longer change. */
export class Shown<M> {
  #decided: M[] = [];
  #length = 0;

  /** Makes everything undecided again. */
  reset(): void {
    this.#decided = [];
    this.#length = 0;
  }

  /**
   * What is shown of `length` messages. `show` returns `undefined` for a message that is left out; for the first
   * `decided` messages its results must never change later.
   */
  of(length: number, decided: number, show: (at: number) => M | undefined): M[] {
    if (decided < this.#length) this.reset();
    for (; this.#length < decided; this.#length++) {
      const message = show(this.#length);
      if (message !== undefined) this.#decided.push(message);
    }
    const all = this.#decided.slice();
    for (let at = decided; at < length; at++) {
      const message = show(at);
      if (message !== undefined) all.push(message);
    }
    return all;
  }
}

/** Shows each message by itself; for a list that has only grown, `show` is called for the new messages only. */
export function shownEach(): <M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  show: (message: M) => M | undefined,
) => readonly M[] {
  const states = statePerList();
  return <M>(messages: readonly M[], format: MessageFormat<M>, show: (message: M) => M | undefined) => {
    const { length } = messages;
    return states(messages, format, () => new Shown<M>()).of(length, length, (at) => show(messages[at] as M));
  };
}
