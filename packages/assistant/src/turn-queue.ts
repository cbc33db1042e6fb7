import { type ChatMemory, isTurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";
import { abortedError } from "./abort.ts";
import { AssistantError } from "./errors.ts";

/** When a turn runs, and how it is held. */
export interface TurnRules {
  readonly busy: "reject" | "enqueue";
  readonly leaseMs: number | undefined;
}

/**
 * Runs a turn of that memory while no other runs, in whatever process. Its signal fires with the given one, and when the
 * turn is asked to stop or is lost. Errors: `BUSY` if another runs and `busy` is `"reject"`; `ABORTED` if the signal fires
 * while this one still waits.
 */
export async function whileFree<M, T>(
  memory: ChatMemory<M>,
  { busy, leaseMs }: TurnRules,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let hasBegun = false;
  try {
    return await memory.turn(
      (turn) => {
        hasBegun = true;
        return run(turn.signal);
      },
      { busy: busy === "enqueue" ? "wait" : "reject", leaseMs, signal },
    );
  } catch (error) {
    if (hasBegun) throw error;
    if (signal.aborted) throw abortedError(signal);
    if (!isTurnkeepError(error, "BUSY")) throw error;
    throw new AssistantError(
      "BUSY",
      `A turn of memory ${quoted(memory.id)} is under way. Wait for it, or set busy to "enqueue".`,
      { cause: error, details: { memoryId: memory.id } },
    );
  }
}
