import type { MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";
import { withState } from "./copies.ts";

/**
 * An update as a store applies it: a copy with the net effect on each row. Each message is in exactly one of `insert`,
 * `replaced` and `moved`, with its final state. One that the update both adds and removes is in none.
 */
export interface FoldedUpdate extends Readonly<Omit<MemoryUpdate, "append" | "replace" | "move">> {
  /** The `seq` of the first new message, also of one that the update removes again, or `nextSeq` if there is none: it was free. */
  readonly first: number;
  /** New rows, ascending by `seq`. */
  readonly insert: readonly (StoredMessage & { readonly state: MessageState })[];
  /**
   * Rows whose payload, meta and state are overwritten, or that are deleted; before, they were live, or evicted where `was`
   * says so, and had these ids.
   */
  readonly replaced: readonly (StoredMessage & Was & Folded)[];
  /** Rows whose state alone changes, or that are deleted; before, they existed. */
  readonly moved: readonly ({ readonly seq: number } & Folded)[];
}

/** Set for a row that was evicted before. */
type Was = {
  readonly was?: "evicted" | undefined;
};

/** What becomes of a row. Two types, so that the compiler knows which rows are left once those removed are filtered out. */
type Folded = { readonly state: MessageState } | { readonly state: "removed" };

/**
 * Folds `append`, `replace` and `move` of a checked update into the final change of each row. A move may name a message
 * that the same update appends or replaces, and a database given two changes to one row in one statement may lose one.
 *
 * `history: false` is for a store that keeps live messages only: messages that leave are removed, or never written.
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
  { expected, version, nextSeq, owner, head, data, ttlMs, append, replace, move }: MemoryUpdate,
  options?: {
    /** `false`: the store keeps live messages only. Default `true`. */
    readonly history?: boolean | undefined;
  },
): FoldedUpdate {
  const keepsHistory = options?.history !== false;
  const target = (to: Folded["state"]) => (keepsHistory || to === "live" ? to : "removed");
  const targets = new Map(move.map(({ seq, to }) => [seq, target(to)]));
  // What is added or replaced takes its move along.
  const take = (message: StoredMessage, otherwise: Folded["state"]): StoredMessage & Folded => {
    const state = targets.get(message.seq) ?? otherwise;
    targets.delete(message.seq);
    return withState(message, state);
  };
  const insert = append.map((message) => take(message, "live")).filter((row) => row.state !== "removed");
  const replaced = replace.map((message) =>
    message.state === undefined
      ? take(message, "live")
      : { ...take(message, target("evicted")), was: message.state },
  );
  const moved = Array.from(targets, ([seq, state]) => ({ seq, state }));
  const first = append[0]?.seq ?? nextSeq;
  return { expected, version, nextSeq, owner, head, data, ttlMs, first, insert, replaced, moved };
}

/**
 * The seqs of the messages that a folded update expects to find: those it replaces, moves or removes.
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
 * Whether a folded update only adds messages and evicts others. Nearly every update does, so a store may have a leaner
 * statement for it. An evicted message need not be live: a statement that relies on that must check it.
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

/**
 * When a memory expires after an update: `undefined`, never. For a store that reads the clock itself.
 *
 * @param ttlMs The store's own, for an update that has none.
 * @param now Milliseconds since the epoch.
 *
 * @example
 * ```ts
 * import { expiryOf, foldUpdate } from "@turnkeep/core/store-kit";
 *
 * const update = { expected: null, version: "v1", nextSeq: 1, append: [], replace: [], move: [] };
 * expiryOf(foldUpdate({ ...update, ttlMs: 1000 }), undefined, 5000); // 6000
 * expiryOf(foldUpdate({ ...update, ttlMs: null }), 1000, 5000); // undefined
 * ```
 */
export function expiryOf(
  { ttlMs: own }: Pick<FoldedUpdate, "ttlMs">,
  ttlMs: number | undefined,
  now: number,
): number | undefined {
  const lives = own === undefined ? ttlMs : (own ?? undefined);
  return lives === undefined ? undefined : now + lives;
}
