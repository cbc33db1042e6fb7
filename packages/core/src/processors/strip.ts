import type { MessageFormat } from "../message-format.ts";
import { perMessage } from "../steps/per-message.ts";
import { copiesPerMessage } from "./copies-per-message.ts";
import { listSteps } from "./list-steps.ts";
import { type ListState, listOf } from "./message-list.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";
import { Shown } from "./shown.ts";
import { StepsHolding } from "./steps-holding.ts";

/** What a processor strips, and from which messages. */
export interface Stripping {
  readonly name: string;
  /** How many of the newest steps with such content keep it. */
  readonly keepLastSteps: number;
  holds<M>(message: M, format: MessageFormat<M>): boolean;
  /** Whether later parts of the same answer are bound to the stripped content and must be stripped of that bond. */
  readonly binds?: boolean;
  /** `undefined` if nothing is left to show. */
  strip<M>(message: M, format: MessageFormat<M>): M | undefined;
}

export function stripper({ name, keepLastSteps, holds, binds = false, strip }: Stripping): AnyProcessor {
  const copyOf = copiesPerMessage();
  const known = perMessage();
  const processor: AnyProcessor = {
    name,
    eachAlone: keepLastSteps === 0,
    process<M>(given: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const list = listOf(given, format);
      const { messages } = list;
      const isHolding = (at: number): boolean => {
        const message = messages[at] as M;
        return known(message, format, () => holds(message, format));
      };
      const { holding, bound, shown } = list.states(processor, () => ({
        holding: keepLastSteps > 0 ? new StepsHolding(listSteps(list), isHolding) : undefined,
        bound:
          binds && format.answersInParts === true
            ? new BoundMessages(messages, format, isHolding)
            : undefined,
        shown: new Shown<M>(),
      }));
      const steps = holding && listSteps(list);
      if (holding?.grow() === true) shown.cut(0);
      bound?.grow();
      const border = holding?.newest(keepLastSteps) ?? messages.length;
      return shown.of(messages.length, steps?.before(border) ?? border, (at) => {
        const message = messages[at] as M;
        const isKept = steps !== undefined && steps.placeOf(at) >= border;
        if (isKept || !(isHolding(at) || bound?.has(at) === true)) return message;
        return copyOf(message, format, () => strip(message, format));
      });
    },
  };
  return processor;
}

/** The messages that hold such content, or follow one that does in the same answer. */
class BoundMessages<M> implements ListState {
  readonly #messages: readonly M[];
  readonly #format: MessageFormat<M>;
  readonly #isHolding: (at: number) => boolean;
  /** By message. */
  readonly #bound: boolean[] = [];

  constructor(messages: readonly M[], format: MessageFormat<M>, isHolding: (at: number) => boolean) {
    this.#messages = messages;
    this.#format = format;
    this.#isHolding = isHolding;
  }

  grow(): void {
    for (let at = this.#bound.length; at < this.#messages.length; at++) {
      const isPart = this.#format.role(this.#messages[at] as M) === "assistant";
      this.#bound.push(isPart && (this.#bound.at(-1) === true || this.#isHolding(at)));
    }
  }

  cut(length: number): void {
    if (length < this.#bound.length) this.#bound.length = length;
  }

  has(at: number): boolean {
    return this.#bound[at] === true;
  }
}
