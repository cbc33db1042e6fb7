import type { MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";
import { withState } from "./copies.ts";

/** What an update comes to: each message stands in one list, once, with its final state. */
export interface FoldedUpdate {
  /** Rows to write that were not there, ascending by `seq`. */
  readonly insert: readonly (StoredMessage & { readonly state: MessageState })[];
  /** Rows whose payload, meta and state are to be overwritten; before, they were live. */
  readonly rewrite: readonly (StoredMessage & { readonly state: MessageState })[];
  /** Rows of which only the state changes. */
  readonly setState: readonly { readonly seq: number; readonly state: MessageState }[];
  /** Rows to delete. */
  readonly remove: readonly number[];
}

/**
 * Folds `append`, `replace` and `move` of a checked update into the final change of each row, since a move may name a
 * message just appended or replaced, and a database that is told two changes of one row in one statement may lose one.
 *
 * `history: false` is for a store that keeps live messages only: what leaves is removed, or never written.
 *
 * @example
 * ```ts
 * import { foldUpdate } from "@turnkeep/core/store-kit";
 *
 * const message = { id: "a", seq: 1, createdAt: 0, payload: "{}" };
 * const { insert } = foldUpdate({
 *   expected: null, version: "v1", nextSeq: 2,
 *   append: [message], replace: [], move: [{ seq: 1, to: "evicted" }],
 * });
 * insert[0]?.state; // "evicted"
 * ```
 */
export function foldUpdate(
  update: MemoryUpdate,
  options?: { readonly history?: boolean | undefined },
): FoldedUpdate {
  const keepsHistory = options?.history !== false;
  const targets = new Map<number, MessageState | "removed">();
  for (const { seq, to } of update.move) {
    targets.set(seq, keepsHistory || to === "live" ? to : "removed");
  }
  const insert: (StoredMessage & { state: MessageState })[] = [];
  const rewrite: (StoredMessage & { state: MessageState })[] = [];
  const setState: { seq: number; state: MessageState }[] = [];
  const remove: number[] = [];

  for (const message of update.append) {
    const state = targets.get(message.seq) ?? "live";
    targets.delete(message.seq);
    if (state !== "removed") insert.push(withState(message, state));
  }
  for (const message of update.replace) {
    const state = targets.get(message.seq) ?? "live";
    if (state === "removed") continue;
    targets.delete(message.seq);
    rewrite.push(withState(message, state));
  }
  for (const [seq, state] of targets) {
    if (state === "removed") remove.push(seq);
    else setState.push({ seq, state });
  }
  return { insert, rewrite, setState, remove };
}

/**
 * The seqs that a folded update expects to find: of messages that it rewrites, moves or removes.
 *
 * @example
 * ```ts
 * import { foldUpdate, namedSeqs } from "@turnkeep/core/store-kit";
 *
 * const move = [{ seq: 3, to: "removed" as const }];
 * namedSeqs(foldUpdate({ expected: "v1", version: "v2", nextSeq: 9, append: [], replace: [], move })); // [3]
 * ```
 */
export function namedSeqs({ rewrite, setState, remove }: FoldedUpdate): number[] {
  return [...rewrite, ...setState].map(({ seq }) => seq).concat(remove);
}

/**
 * Whether a folded update does no more than add messages and evict others. Nearly every update does, so a store may have
 * a leaner statement for it. What is evicted need not be live: a leaner statement that relies on it must look.
 *
 * @example
 * ```ts
 * import { foldUpdate, isPlain } from "@turnkeep/core/store-kit";
 *
 * const append = [{ id: "b", seq: 8, createdAt: 0, payload: "{}" }];
 * const move = [{ seq: 3, to: "evicted" as const }];
 * isPlain(foldUpdate({ expected: "v1", version: "v2", nextSeq: 9, append, replace: [], move })); // true
 * ```
 */
export function isPlain({ rewrite, setState, remove }: FoldedUpdate): boolean {
  return rewrite.length + remove.length === 0 && setState.every(({ state }) => state === "evicted");
}
