import type { Tick } from "./crash-turn.ts";

/** A process that dies at its n-th tick: from then on nothing that it waits for comes back. */
export function dying(dieAt: number): { readonly tick: Tick; readonly died: Promise<"died"> } {
  let ticks = 0;
  let die: ((how: "died") => void) | undefined;
  const died = new Promise<"died">((resolve) => {
    die = resolve;
  });
  const tick: Tick = async () => {
    if (++ticks < dieAt) return;
    die?.("died");
    await new Promise(() => undefined);
  };
  return { tick, died };
}

export const lives: Tick = async () => undefined;
