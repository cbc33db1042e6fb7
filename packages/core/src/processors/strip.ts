import { stepsOf } from "../memory/live.ts";
import type { MessageFormat } from "../message-format.ts";
import { beforeBorder } from "./border.ts";
import type { AnyProcessor } from "./options.ts";
import { copiesPerMessage } from "./per-message.ts";

/** What a processor strips, and of which messages. */
export interface Stripping {
  readonly name: string;
  /** How many of the newest steps that hold it keep it. */
  readonly keepLastSteps: number;
  holds<M>(message: M, format: MessageFormat<M>): boolean;
  /** `undefined` when nothing is left to show. */
  strip<M>(message: M, format: MessageFormat<M>): M | undefined;
}

export function stripper({ name, keepLastSteps, holds, strip }: Stripping): AnyProcessor {
  const copyOf = copiesPerMessage();
  return {
    name,
    eachAlone: keepLastSteps === 0,
    process<M>(messages: readonly M[], { format }: { readonly format: MessageFormat<M> }): readonly M[] {
      const holding = messages.map((message) => holds(message, format));
      const keeping = keepLastSteps === 0 ? new Set<number>() : newest(messages, holding, format);
      return messages.flatMap((message, index) => {
        if (holding[index] !== true || keeping.has(index)) return [message];
        const stripped = copyOf(message, format, () => strip(message, format));
        return stripped === undefined ? [] : [stripped];
      });
    },
  };

  function newest<M>(
    messages: readonly M[],
    holding: readonly boolean[],
    format: MessageFormat<M>,
  ): Set<number> {
    const steps = stepsOf(messages, format).filter((step) =>
      step.items.some(({ seq }) => holding[seq] === true),
    );
    const kept = steps.slice(beforeBorder(steps.length, keepLastSteps));
    return new Set(kept.flatMap((step) => step.items.map(({ seq }) => seq)));
  }
}
