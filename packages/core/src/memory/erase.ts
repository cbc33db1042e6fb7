import { isTurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { randomName } from "../message-id.ts";
import { parsedJson } from "../parsed-json.ts";
import type { MemorySnapshot } from "../store-contract.ts";
import { awayBackOff, backOff, type Call, isRepeatable } from "./deadline.ts";
import type { Head } from "./head.ts";
import type { HeldTurn } from "./held-turn.ts";
import { isLease, type Lease } from "./lease.ts";
import { checkOwned } from "./owner.ts";

/** What is known of it beforehand. */
interface EraseOptions {
  /** The version that the caller holds: if it is current, the messages need not be read. */
  readonly known?: string | undefined;
  /** Whether the store has listed it as the owner's. */
  readonly isListed?: boolean;
  /** The turn that deletes it, if one does. */
  readonly turn?: HeldTurn | undefined;
}

/**
 * Deletes the memory that is there now, with whatever is added to it meanwhile, and never one that begins after it: each
 * attempt names the version that was read, and its life tells whether the memory is still the same. So the repeat of an
 * attempt whose answer was lost hits nothing else.
 *
 * Errors: `OWNER_MISMATCH` with an owner who asks; `TURN_LOST` for a turn that somebody else may have taken over.
 */
export async function eraseMemory<M>(
  settings: MemorySettings<M>,
  call: Call,
  options: EraseOptions = {},
): Promise<void> {
  const { memoryId, store } = settings;
  const { signal } = call;
  let tried: { readonly life: string | undefined; readonly expected: string | undefined } | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      const snapshot = await readIfPossible(settings, call, options);
      signal.throwIfAborted();
      if (snapshot?.version === null) return await eraseRest(settings, call, tried?.expected);
      const { life, turn } = snapshot === undefined ? {} : headOf(snapshot);
      if (snapshot !== undefined && tried !== undefined && tried.life !== life) return;
      if (snapshot !== undefined) {
        checkOwned(settings, snapshot);
        options.turn?.check({ turn });
      }
      tried = { life, expected: snapshot?.version };
      await store.deleteMessages(memoryId, { signal, expected: snapshot?.version });
      return;
    } catch (error) {
      signal.throwIfAborted();
      const isConflict = isTurnkeepError(error, "VERSION_CONFLICT");
      if (!isConflict && !isRepeatable(error, call)) throw error;
      call.failure = error;
      await (isConflict ? backOff : awayBackOff)(attempt, signal);
    }
  }
}

/**
 * A store that deletes in several steps may have been stopped behind the first, by this call or an earlier one: what is left
 * shows nowhere, and goes with the repeat. That names a version that nothing else has, so that it hits no memory.
 */
async function eraseRest<M>(
  { memoryId, store }: MemorySettings<M>,
  { signal }: Call,
  expected = randomName(),
): Promise<void> {
  try {
    await store.deleteMessages(memoryId, { signal, expected });
  } catch (error) {
    // Another one has begun.
    if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
  }
}

/** `undefined`: what is there cannot be read. It is deleted as it is, if it may be anybody's or is listed as the owner's. */
async function readIfPossible<M>(
  { memoryId, store, owner }: MemorySettings<M>,
  { signal }: Call,
  { known, isListed = false }: EraseOptions,
): Promise<MemorySnapshot | undefined> {
  try {
    return await store.getMessages(memoryId, { signal, known });
  } catch (error) {
    if (isUnreadable(error) && (owner === undefined || isListed)) return undefined;
    throw error;
  }
}

/** Whether it says that a memory is there and cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return isTurnkeepError(error, "CORRUPT_RECORD") || isTurnkeepError(error, "UNSUPPORTED_VERSION");
}

/** Of a damaged head too, which must not keep a memory from being deleted. */
function headOf({ head }: MemorySnapshot): { readonly life: string; readonly turn: Lease | undefined } {
  const { life, turn } = (head === undefined ? {} : (parsedJson(head) ?? {})) as Partial<
    Record<keyof Head, unknown>
  >;
  return { life: typeof life === "string" ? life : "", turn: isLease(turn) ? turn : undefined };
}
