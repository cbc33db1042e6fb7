import { orAborted, throwIfAborted } from "./abort.ts";
import { AssistantError } from "./errors.ts";

interface Queue {
  /** Turns that run or wait. */
  count: number;
  /** Settles when all of them are done. */
  tail: Promise<unknown>;
}

/** By the memory, so that all assistants of a process share it and none cuts in. */
const queues = new WeakMap<object, Queue>();

/**
 * Runs a turn of that memory while no other does. Errors: `BUSY` if one does and `busy` is `"reject"`; `ABORTED` if the
 * signal fires while this one still waits.
 */
export async function whileFree<T>(
  memory: { readonly id: string },
  busy: "reject" | "enqueue",
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const queue = queues.get(memory) ?? { count: 0, tail: Promise.resolve() };
  if (queue.count > 0 && busy === "reject") {
    throw new AssistantError(
      "BUSY",
      `A turn of memory ${JSON.stringify(memory.id)} is under way. Wait for it, or set busy to "enqueue".`,
      { details: { memoryId: memory.id } },
    );
  }
  queues.set(memory, queue);
  const before = queue.tail;
  let end: (() => void) | undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  // One that is aborted while it waits must not let the next one in before the running one is done.
  queue.tail = before.then(() => done);
  queue.count++;
  try {
    await orAborted(before, signal);
    return await run();
  } finally {
    queue.count--;
    end?.();
  }
}
