/** A promise that is settled from outside. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Until the condition holds; the test's own time-out ends the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** What comes in two portions, the second when it may; `begun` when somebody has taken the first. */
export function inTwo<T>(
  before: readonly T[],
  after: readonly T[],
): { readonly reply: () => AsyncGenerator<T>; readonly begun: Promise<void>; goOn(): void } {
  const [begun, goesOn] = [gate(), gate()];
  async function* reply(): AsyncGenerator<T> {
    yield* before;
    begun.open();
    await goesOn.opened;
    yield* after;
  }
  return { reply, begun: begun.opened, goOn: goesOn.open };
}
