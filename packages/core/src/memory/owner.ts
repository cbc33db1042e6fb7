import { quoted, TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { MemorySnapshot } from "../store-contract.ts";

/** Errors: `OWNER_MISMATCH` for a memory that is not of the owner who asks; without one, it may be anybody's. */
export function checkOwned<M>({ memoryId, owner }: MemorySettings<M>, stored: MemorySnapshot): void {
  if (owner === undefined || stored.version === null || stored.owner === owner) return;
  // Whose it is stays untold: who asks may be a stranger.
  throw ownerMismatch(
    memoryId,
    `does not belong to the owner who asks, ${quoted(owner)}; nothing was read or changed. ` +
      "If the id came with a request, answer as if there were no such memory.",
  );
}

export function ownerMismatch(memoryId: string, what: string): TurnkeepError {
  return new TurnkeepError("OWNER_MISMATCH", `Memory ${quoted(memoryId)} ${what}`, {
    details: { memoryId },
  });
}
