import type { ChatMemory } from "@turnkeep/core";

interface Turn {
  readonly signal: AbortSignal;
}

/** What a memory is to have itself. */
export interface Turns {
  turn<T>(run: (turn: Turn) => Promise<T>, options?: { readonly signal?: AbortSignal }): Promise<T>;
  requestStop(): Promise<boolean>;
  running(): Promise<boolean>;
}

const all = new WeakMap<object, Turns>();

export function turnsOf<M>(memory: ChatMemory<M>): Turns {
  if ("turn" in memory) return memory as unknown as Turns;
  const known = all.get(memory) ?? localTurns();
  all.set(memory, known);
  return known;
}

function localTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let current: AbortController | undefined;
  return {
    turn(run) {
      const next = last.then(async () => {
        current = new AbortController();
        try {
          return await run({ signal: current.signal });
        } finally {
          current = undefined;
        }
      });
      last = next.catch(() => undefined);
      return next;
    },
    async requestStop() {
      current?.abort();
      return current !== undefined;
    },
    running: async () => current !== undefined,
  };
}
