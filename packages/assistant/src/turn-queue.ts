import { type Anchor, type ChatMemory, isTurnkeepError, type TurnOptions } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";
import { abortedError } from "./abort.ts";
import { AssistantError } from "./errors.ts";
import { deleted } from "./turn-errors.ts";

/** When a turn runs, and how it is held. */
export interface TurnRules {
  readonly busy: "reject" | "enqueue";
  readonly leaseMs: number | undefined;
}

/**
 * Runs a turn of that memory while no other runs, in whatever process. Its signal fires with the given one, and when the
 * turn is asked to stop or is lost. Errors: `BUSY` if another runs and `busy` is `"reject"`; `ABORTED` if the signal fires
 * while this one still waits; `MEMORY_DELETED` if the conversation that it waits in is deleted meanwhile.
 */
export async function whileFree<M, T>(
  memory: ChatMemory<M>,
  { busy, leaseMs }: TurnRules,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let hasBegun = false;
  const turn = (options: Pick<TurnOptions, "busy" | "mustExist">): Promise<T> =>
    memory.turn(
      (turn) => {
        hasBegun = true;
        return run(turn.signal);
      },
      { ...options, leaseMs, signal },
    );
  try {
    return await turn({ busy: "reject" }).catch(async (error) => {
      if (busy === "reject" || hasBegun || !isTurnkeepError(error, "BUSY")) throw error;
      return turn({ busy: "wait", mustExist: await standing(memory, signal) });
    });
  } catch (error) {
    if (hasBegun) throw error;
    if (signal.aborted) throw abortedError(signal);
    if (isTurnkeepError(error, "NOT_FOUND")) throw deleted(memory.id, error);
    if (!isTurnkeepError(error, "BUSY")) throw error;
    throw new AssistantError(
      "BUSY",
      `A turn of memory ${quoted(memory.id)} is under way. Wait for it, or set busy to "enqueue".`,
      { cause: error, details: { memoryId: memory.id } },
    );
  }
}

/** The conversation that a chat begins to wait in; `false` if there is none yet. */
async function standing<M>(memory: ChatMemory<M>, signal: AbortSignal): Promise<Anchor | false> {
  // What this instance knows may be of an earlier life of the conversation.
  await memory.running({ signal });
  return memory.anchor(undefined, { signal }).catch((error) => {
    if (!isTurnkeepError(error, "NOT_FOUND")) throw error;
    return false;
  });
}
