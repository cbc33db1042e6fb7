import type { MemorySnapshot, MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";

// Members are named one by one: V8 takes many times as long to spread an object that then gains a member.

/** A fresh message with the contract's members only. */
export function copyMessage({ id, seq, createdAt, payload, meta }: StoredMessage): StoredMessage {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/**
 * A fresh message with the contract's members and its state, as a page of history has them.
 *
 * @example
 * ```ts
 * import { withState } from "@turnkeep/core/store-kit";
 *
 * withState({ id: "a", seq: 1, createdAt: 0, payload: "{}" }, "evicted").state; // "evicted"
 * ```
 */
export function withState<State extends MessageState | "removed">(
  { id, seq, createdAt, payload, meta }: StoredMessage,
  state: State,
): StoredMessage & { state: State } {
  return meta === undefined
    ? { id, seq, createdAt, payload, state }
    : { id, seq, createdAt, payload, meta, state };
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

/**
 * What `getMessages` answers of a memory that is there: owner and head only where it has them.
 *
 * @param messages `undefined`: it is at the version that the caller knows.
 *
 * @example
 * ```ts
 * import { memorySnapshot } from "@turnkeep/core/store-kit";
 *
 * memorySnapshot({ version: "v1", nextSeq: 3, owner: null }, undefined);
 * // { version: "v1", nextSeq: 3, messages: [], unchanged: true }
 * ```
 */
export function memorySnapshot(
  { version, nextSeq, owner, head }: StoredHead,
  messages: StoredMessage[] | undefined,
): MemorySnapshot {
  const snapshot: MemorySnapshot = { version, nextSeq, messages: messages ?? [] };
  if (typeof owner === "string") snapshot.owner = owner;
  if (typeof head === "string") snapshot.head = head;
  if (messages === undefined) snapshot.unchanged = true;
  return snapshot;
}

/** What a store keeps of a memory beside its messages; `null`, as databases have it, counts as absent. */
export interface StoredHead {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner?: string | null | undefined;
  readonly head?: string | null | undefined;
}
