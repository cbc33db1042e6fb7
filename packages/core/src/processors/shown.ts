import type { MessageFormat } from "../message-format.ts";
import { statePerList } from "./growing-list.ts";
import { copiesPerMessage } from "./per-message.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";

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

/**
 * A processor that changes each message by itself, once; what `changeFor` returns is called for the messages, and may
 * leave one out.
 */
export function eachMessage(
  name: string,
  changeFor: <M>(format: MessageFormat<M>) => (message: M) => M | undefined,
): AnyProcessor {
  const copyOf = copiesPerMessage();
  const states = statePerList();
  return {
    name,
    eachAlone: true,
    process<M>(messages: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const { length } = messages;
      const change = changeFor(format);
      return states(messages, format, () => new Shown<M>()).of(length, length, (at) => {
        const message = messages[at] as M;
        return copyOf(message, format, () => change(message));
      });
    },
  };
}
