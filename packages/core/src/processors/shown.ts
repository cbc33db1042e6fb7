import type { MessageFormat } from "../message-format.ts";
import { copiesPerMessage } from "./copies-per-message.ts";
import { type ListState, listOf } from "./message-list.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";

/** What is shown of a list; decides only once about the part of it that cannot change as it grows. */
export class Shown<M> implements ListState {
  readonly #decided: M[] = [];
  /** By message: how many of the decided ones are shown before it. */
  readonly #before: number[] = [];

  /** Makes everything from a message on undecided again. */
  cut(length: number): void {
    if (length >= this.#before.length) return;
    this.#decided.length = this.#before[length] as number;
    this.#before.length = length;
  }

  /**
   * What is shown of `length` messages. `show` returns `undefined` for a message that is left out; for the first
   * `decided` messages its results must never change later.
   */
  of(length: number, decided: number, show: (at: number) => M | undefined): M[] {
    this.cut(decided);
    for (let at = this.#before.length; at < decided; at++) {
      const message = show(at);
      this.#before.push(this.#decided.length);
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
  const processor: AnyProcessor = {
    name,
    eachAlone: true,
    process<M>(given: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const list = listOf(given, format);
      const { messages } = list;
      const change = changeFor(format);
      const { shown } = list.states(processor, () => ({ shown: new Shown<M>() }));
      return shown.of(messages.length, messages.length, (at) => {
        const message = messages[at] as M;
        return copyOf(message, format, () => change(message));
      });
    },
  };
  return processor;
}
