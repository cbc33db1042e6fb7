import { isTurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";
import type { MemorySnapshot } from "../store-contract.ts";
import { backOff, type Call, isRepeatable } from "./deadline.ts";
import { checkOwned } from "./owner.ts";
import type { Policy } from "./policy.ts";

/** The memory to delete. */
export type Erased = Pick<Policy<never>, "memoryId" | "store" | "owner" | "retry">;

/**
 * Deletes the memory that is there now, with whatever is added to it meanwhile, and never one that begins after it: each
 * attempt names the version that was read, and its life tells whether the memory is still the same. So the repeat of an
 * attempt whose answer was lost hits nothing else.
 *
 * Errors: `OWNER_MISMATCH` with an owner who asks.
 *
 * @param known The version that the caller holds, if it holds one: if it is current, the messages need not be read.
 */
export async function eraseMemory(erased: Erased, call: Call, known?: string): Promise<void> {
  const { memoryId, store } = erased;
  const { signal } = call;
  let life: string | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      const snapshot = await readIfPossible(erased, call, known);
      signal.throwIfAborted();
      const lifeNow = snapshot && lifeOf(snapshot);
      if (snapshot?.version === null || (attempt > 1 && lifeNow !== life)) return;
      if (snapshot !== undefined) checkOwned(erased, snapshot);
      life = lifeNow;
      await store.deleteMessages(memoryId, { signal, expected: snapshot?.version });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTurnkeepError(error, "VERSION_CONFLICT") && !isRepeatable(error, erased)) throw error;
      call.failure = error;
      await backOff(attempt, signal);
    }
  }
}

/** `undefined`: what is there cannot be read. It is deleted as it is, if it may be anybody's. */
async function readIfPossible(
  { memoryId, store, owner }: Erased,
  { signal }: Call,
  known: string | undefined,
): Promise<MemorySnapshot | undefined> {
  try {
    return await store.getMessages(memoryId, { signal, known });
  } catch (error) {
    if (isUnreadable(error) && owner === undefined) return undefined;
    throw error;
  }
}

/** Whether it says that a memory is there and cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return isTurnkeepError(error, "CORRUPT_RECORD") || isTurnkeepError(error, "UNSUPPORTED_VERSION");
}

/** Of a damaged head too, which must not keep a memory from being deleted. */
function lifeOf({ head }: MemorySnapshot): string {
  const { life } = (head === undefined ? {} : (parsedJson(head) ?? {})) as { readonly life?: unknown };
  return typeof life === "string" ? life : "";
}
