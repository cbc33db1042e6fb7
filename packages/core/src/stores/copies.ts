import type { MemoryUpdate, StoredMessage } from "../store-contract.ts";

/** A fresh message with the contract's members only. */
export function copyMessage({ id, seq, createdAt, payload, meta }: StoredMessage): StoredMessage {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/** A copy that the caller's later changes do not reach: for a store that waits before it uses an update. */
export function copyUpdate(update: MemoryUpdate): MemoryUpdate {
  return {
    ...update,
    append: update.append.map(copyMessage),
    replace: update.replace.map(copyMessage),
    move: update.move.map(({ seq, to }) => ({ seq, to })),
  };
}
