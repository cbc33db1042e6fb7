import type { MessageFormat } from "../message-format.ts";
import { beforeBorder } from "./border.ts";
import { statePerList } from "./growing-list.ts";
import { GrowingSteps, Places } from "./growing-steps.ts";
import { copiesPerMessage } from "./per-message.ts";
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
  const states = statePerList();
  return {
    name,
    eachAlone: keepLastSteps === 0,
    process<M>(messages: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      const isHolding = (message: M): boolean => holds(message, format);
      const { kept, shown, bound } = states(messages, format, () => ({
        kept: new KeptSteps(keepLastSteps, format, isHolding),
        shown: new Shown<M>(),
        bound: [] as boolean[],
      }));
      if (keepLastSteps > 0 && kept.grow(messages)) shown.reset();
      if (binds && format.answersInParts === true) growBound(bound, messages, format, isHolding);
      return shown.of(messages.length, kept.before(messages.length), (at) => {
        const message = messages[at] as M;
        if (kept.has(at) || !(isHolding(message) || bound[at] === true)) return message;
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

/** The newest steps with such messages. */
class KeptSteps<M> {
  readonly #steps: GrowingSteps<M>;
  readonly #places: Places<M>;
  readonly #keep: number;
  readonly #isSuch: (message: M) => boolean;
  /** The place of the first of them; `undefined` if there are none. */
  #border: number | undefined;

  constructor(keep: number, format: MessageFormat<M>, isSuch: (message: M) => boolean) {
    this.#steps = new GrowingSteps({ format, counter: undefined, pinned: undefined });
    this.#places = new Places(this.#steps);
    this.#keep = keep;
    this.#isSuch = isSuch;
  }

  /** Takes in what is new; returns whether older messages now belong to other steps. */
  grow(messages: readonly M[]): boolean {
    const early = this.#steps.early.length;
    for (const { item } of this.#steps.grow(messages)) {
      if (this.#isSuch(item.message as M)) this.#places.add(item.seq);
    }
    this.#border = this.#places.at((count) => beforeBorder(count, this.#keep));
    return this.#steps.early.length > early;
  }

  /** How many of the oldest messages are in none of them, however the list grows. */
  before(length: number): number {
    return this.#steps.before(this.#border ?? length);
  }

  has(at: number): boolean {
    return this.#border !== undefined && this.#steps.placeOf(at) >= this.#border;
  }
}
