import type { MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";
import { withState } from "./copies.ts";

/**
 * What an update comes to: each message stands in one of the first four lists, once, with its final state. The last two
 * have those that it expects to find, for a store that checks them in the statement that changes them.
 */
export interface FoldedUpdate {
  /** Rows to write that were not there, ascending by `seq`. */
  readonly insert: readonly (StoredMessage & { readonly state: MessageState })[];
  /** Rows whose payload, meta and state are to be overwritten; before, they were live. */
  readonly rewrite: readonly (StoredMessage & { readonly state: MessageState })[];
  /** Rows of which only the state changes. */
  readonly setState: readonly { readonly seq: number; readonly state: MessageState }[];
  /** Rows to delete. */
  readonly remove: readonly number[];
  /** `rewrite`, and of `remove` what was replaced too: before, they were live and had these ids. */
  readonly replaced: readonly (StoredMessage & Folded)[];
  /** `setState`, and the rest of `remove`: before, they were there. */
  readonly moved: readonly ({ readonly seq: number } & Folded)[];
}

/** What becomes of a row. */
interface Folded {
  readonly state: MessageState | "removed";
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
  const insert = update.append.map((message) => withState(message, targets.get(message.seq) ?? "live"));
  const replaced = update.replace.map((message) => withState(message, targets.get(message.seq) ?? "live"));
  for (const { seq } of [...insert, ...replaced]) targets.delete(seq);
  const moved = Array.from(targets, ([seq, state]) => ({ seq, state }));
  return {
    insert: insert.filter(stays),
    rewrite: replaced.filter(stays),
    setState: moved.filter(stays),
    remove: [...replaced, ...moved].filter((row) => !stays(row)).map(({ seq }) => seq),
    replaced,
    moved,
  };
}

function stays<Row extends Folded>(row: Row): row is Row & { readonly state: MessageState } {
  return row.state !== "removed";
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
export function namedSeqs({ replaced, moved }: FoldedUpdate): number[] {
  return [...replaced, ...moved].map(({ seq }) => seq);
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
export function isPlain({ replaced, moved }: FoldedUpdate): boolean {
  return replaced.length === 0 && moved.every(({ state }) => state === "evicted");
}
