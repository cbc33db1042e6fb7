import type { MemorySnapshot, MessageState, StoredMessage } from "../store-contract.ts";

// Members are listed one by one: in V8, spreading an object that then gains a member is many times slower.

/** A new message with the contract's members only. */
export function copyMessage({ id, seq, createdAt, payload, meta }: StoredMessage): StoredMessage {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/**
 * A new message with the contract's members and its state, as in a history page.
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

/**
 * What a store returns in place of a live message whose record is lost or damaged: its payload is empty, which core tells
 * as `CORRUPT_RECORD` with the id, and the application can `remove` it.
 *
 * @param id The message's id; if it was lost with the record, leave it out: the message then goes by its place.
 *
 * @example
 * ```ts
 * import { unreadableMessage } from "@turnkeep/core/store-kit";
 *
 * unreadableMessage(12).id; // "turnkeep:lost:12"
 * ```
 */
export function unreadableMessage(seq: number, id: string = `turnkeep:lost:${seq}`): StoredMessage {
  return { id, seq, createdAt: 0, payload: "" };
}

/**
 * What `getMessages` returns for a memory that exists; owner, head and data only if it has them.
 *
 * @param messages `undefined`: the memory is at the version that the caller knows.
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
  { version, nextSeq, owner, head, data }: StoredHead,
  messages: StoredMessage[] | undefined,
): MemorySnapshot {
  const snapshot: MemorySnapshot = { version, nextSeq, messages: messages ?? [] };
  if (typeof owner === "string") snapshot.owner = owner;
  if (typeof head === "string") snapshot.head = head;
  if (typeof data === "string") snapshot.data = data;
  if (messages === undefined) snapshot.unchanged = true;
  return snapshot;
}

/** What a store keeps of a memory besides its messages; `null`, as databases return it, counts as absent. */
export type StoredHead = {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner?: string | null | undefined;
  readonly head?: string | null | undefined;
  readonly data?: string | null | undefined;
};
