import type { MessageFormat } from "../message-format.ts";
import { statePerList } from "./growing-list.ts";
import { type Grown, StepsHolding } from "./growing-steps.ts";
import { copiesPerMessage, perMessage } from "./per-message.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";
import { Shown } from "./shown.ts";

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
  const states = statePerList();
  return {
    name,
    eachAlone: keepLastSteps === 0,
    process<M>(messages: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const isHolding = (message: M): boolean => known(message, format, () => holds(message, format));
      const { holding, shown, bound } = states(messages, format, () => ({
        holding: new StepsHolding(format),
        shown: new Shown<M>(),
        bound: [] as boolean[],
      }));
      const isSuch = ({ item }: Grown<M>): boolean => isHolding(item.message as M);
      if (keepLastSteps > 0 && holding.grow(messages, isSuch)) shown.reset();
      if (binds && format.answersInParts === true) growBound(bound, messages, format, isHolding);
      const border = holding.newest(keepLastSteps) ?? messages.length;
      return shown.of(messages.length, holding.all.before(border), (at) => {
        const message = messages[at] as M;
        const isKept = keepLastSteps > 0 && holding.all.placeOf(at) >= border;
        if (isKept || !(isHolding(message) || bound[at] === true)) return message;
        return copyOf(message, format, () => strip(message, format));
      });
    },
  };
}

/** By message: whether it holds such content, or follows one that does in the same answer. */
function growBound<M>(
  bound: boolean[],
  messages: readonly M[],
  format: MessageFormat<M>,
  isHolding: (message: M) => boolean,
): void {
  for (const message of messages.slice(bound.length)) {
    const isPart = format.role(message) === "assistant";
    bound.push(isPart && (bound.at(-1) === true || isHolding(message)));
  }
}
