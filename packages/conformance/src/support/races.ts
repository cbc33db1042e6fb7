/** Starts two calls at once, in even rounds the left one first, in odd rounds the right one. */
export async function race(
  round: number,
  left: () => Promise<unknown>,
  right: () => Promise<unknown>,
): Promise<[left: PromiseSettledResult<unknown>, right: PromiseSettledResult<unknown>]> {
  if (round % 2 === 0) return Promise.allSettled([left(), right()]);
  const [second, first] = await Promise.allSettled([right(), left()]);
  return [first, second];
}

/** Waits for all, then throws what the first of them threw. Nothing goes on in the background. */
export async function all(running: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(running)) {
    if (result.status === "rejected") throw result.reason;
  }
}

/** Does something with each, a few at a time: what is not about one after the other need not wait for it. */
export async function inPortions<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<unknown>,
): Promise<void> {
  const size = 16;
  for (let first = 0; first < items.length; first += size) {
    await all(items.slice(first, first + size).map((item, index) => work(item, first + index)));
  }
}

const readsBetweenTurns = 16;

/**
 * Reads again and again, at least once, until `write` has ended. A read may need nothing from outside, such as a sweep
 * of a store without a list: so that what the write and the kit's own clocks wait for can come in, it makes way.
 */
export async function readWhile(read: () => Promise<unknown>, write: () => Promise<unknown>): Promise<void> {
  let writing = true;
  const reading = async () => {
    for (let reads = 1; ; reads++) {
      await read();
      if (!writing) return;
      if (reads % readsBetweenTurns === 0) await turns(1);
    }
  };
  const written = async () => {
    try {
      await write();
    } finally {
      writing = false;
    }
  };
  await all([reading(), written()]);
}

/** Lets other events have their turn, so many times. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
}

/** Fires at once, after a few turns of the event loop or after some milliseconds; each third time with a reason. */
export async function abortLater(controller: AbortController, round: number): Promise<void> {
  const later = round % 10;
  if (later === 1) await undefined;
  else if (later > 4) await new Promise((resolve) => setTimeout(resolve, later - 5));
  else if (later > 1) await turns(later - 1);
  controller.abort(round % 3 === 2 ? new Error("the caller gave up") : undefined);
}
