import type { ChatMemory } from "../chat-memory.ts";
import type { Processor } from "../processors/processor.ts";

/** By memory. */
const hiding: WeakMap<object, readonly Processor<unknown>[]> = new WeakMap();

/** Keeps which of a memory's processors hide what the model must not see, for who shows it a message apart from a view. */
export function keepHiding<M>(memory: ChatMemory<M>, processors: readonly Processor<M>[]): void {
  const kept = processors.filter(({ eachAlone, shortens }) => eachAlone === true && shortens !== true);
  hiding.set(memory, kept as readonly Processor<unknown>[]);
}

export function hidingOf<M>(memory: ChatMemory<M>): readonly Processor<M>[] {
  return (hiding.get(memory) ?? []) as readonly Processor<M>[];
}
