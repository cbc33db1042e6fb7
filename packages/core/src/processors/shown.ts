import type { MessageFormat } from "../message-format.ts";
import { statePerList } from "./growing-list.ts";

/** What is shown of a list that grows: of its beginning, which is decided, it is asked once. */
export class Shown<M> {
  #decided: M[] = [];
  #length = 0;

  /** What was decided is open again. */
  reset(): void {
    this.#decided = [];
    this.#length = 0;
  }

  /**
   * What is shown of `length` messages. `show` answers `undefined` for one that is left out; of the first `decided` it
   * will say the same whatever comes.
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

/** Shows each message by itself; of a list that has only grown, it asks about what is new. */
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
