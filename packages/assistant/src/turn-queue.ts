import { CallQueue, onAbort, quoted } from "@turnkeep/core/store-kit";
import { abortedError, throwIfAborted } from "./abort.ts";
import { AssistantError } from "./errors.ts";

/** Keyed by memory, so that all assistants of a process share one queue and keep their order. */
const queues = new WeakMap<object, CallQueue>();

/** How long a turn may still take after its time-out, in milliseconds: taking it back needs some calls of the memory. */
const undoMs = 30_000;

/** When a turn runs, and for how long. */
export interface TurnRules {
  readonly busy: "reject" | "enqueue";
  readonly timeoutMs: number | undefined;
}

/**
 * Runs a turn of that memory while no other runs. Errors: `BUSY` if another runs and `busy` is `"reject"`; `ABORTED` if
 * the signal fires while this one still waits.
 */
export async function whileFree<T>(
  memory: { readonly id: string },
  { busy, timeoutMs }: TurnRules,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const queue = queues.get(memory) ?? new CallQueue();
  if (busy === "reject" && queue.isBusy) {
    throw new AssistantError(
      "BUSY",
      `A turn of memory ${quoted(memory.id)} is under way. Wait for it, or set busy to "enqueue".`,
      { details: { memoryId: memory.id } },
    );
  }
  queues.set(memory, queue);
  return new Promise((resolve, reject) => {
    const stopWaiting = onAbort(signal, () => reject(abortedError(signal)));
    const turn = async (): Promise<T> => {
      stopWaiting();
      throwIfAborted(signal);
      return run();
    };
    queue.run(turn, timeoutMs && timeoutMs + undoMs).then(resolve, reject);
  });
}
