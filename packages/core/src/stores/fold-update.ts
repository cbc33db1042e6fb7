import type { MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";
import { withState } from "./copies.ts";

/**
 * An update as a store applies it: a copy with the net effect on each row. Each message is in exactly one of `insert`,
 * `rewrite`, `setState` and `remove`, with its final state. The last three lists are what the update says of the rows
 * before, for a store that checks them in the statement that changes them.
 */
export interface FoldedUpdate extends Readonly<Omit<MemoryUpdate, "append" | "replace" | "move">> {
  /** New rows, ascending by `seq`. */
  readonly insert: readonly (StoredMessage & { readonly state: MessageState })[];
  /** Rows whose payload, meta and state are overwritten; before, they were live, or evicted where `was` says so. */
  readonly rewrite: readonly (StoredMessage & Was & { readonly state: MessageState })[];
  /** Rows whose state alone changes. */
  readonly setState: readonly { readonly seq: number; readonly state: MessageState }[];
  /** Rows to delete. */
  readonly remove: readonly number[];
  /** `insert`, and new messages that the update itself removes again: before, their `seq` was free. */
  readonly appended: readonly (StoredMessage & Folded)[];
  /** `rewrite`, and those of `remove` that were also replaced: before, they were live, or what `was` says, and had these ids. */
  readonly replaced: readonly (StoredMessage & Was & Folded)[];
  /** `setState`, and the rest of `remove`: before, they existed. */
  readonly moved: readonly ({ readonly seq: number } & Folded)[];
}

/** Set for a row that was evicted before. */
type Was = {
  readonly was?: "evicted" | undefined;
};

/** What becomes of a row. */
type Folded = {
  readonly state: MessageState | "removed";
};

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
  update: MemoryUpdate,
  options?: {
    /** `false`: the store keeps live messages only. Default `true`. */
    readonly history?: boolean | undefined;
  },
): FoldedUpdate {
  const { expected, version, nextSeq, owner, head, data, ttlMs } = update;
  const keepsHistory = options?.history !== false;
  const target = (to: MessageState | "removed") => (keepsHistory || to === "live" ? to : "removed");
  const { insert, rewrite, setState, remove, appended, replaced, moved } = foldedRows(update, target);
  return {
    expected,
    version,
    nextSeq,
    owner,
    head,
    data,
    ttlMs,
    insert,
    rewrite,
    setState,
    remove,
    appended,
    replaced,
    moved,
  };
}

type FoldedRows = Pick<
  FoldedUpdate,
  "insert" | "rewrite" | "setState" | "remove" | "appended" | "replaced" | "moved"
>;

function foldedRows(
  { nextSeq, append, replace, move }: MemoryUpdate,
  target: (to: MessageState | "removed") => MessageState | "removed",
): FoldedRows {
  const firstNew = append[0]?.seq ?? nextSeq;
  // Nearly every update adds messages, moves older ones, and does no more.
  if (replace.length === 0 && move.every(({ seq }) => seq < firstNew)) {
    const insert = append.map((message) => withState(message, "live"));
    const moved = move.map(({ seq, to }) => ({ seq, state: target(to) }));
    const setState = moved.filter(stays);
    const remove = setState.length === moved.length ? none : seqsOf(moved.filter((row) => !stays(row)));
    return { insert, rewrite: none, setState, remove, appended: insert, replaced: none, moved };
  }
  const targets = new Map(move.map(({ seq, to }) => [seq, target(to)]));
  const folded = (message: StoredMessage) => withState(message, targets.get(message.seq) ?? "live");
  const appended = append.map(folded);
  const replaced = replace.map((message) =>
    message.state === undefined
      ? folded(message)
      : corrected(message, targets.get(message.seq) ?? target("evicted")),
  );
  for (const { seq } of [...appended, ...replaced]) targets.delete(seq);
  const moved = Array.from(targets, ([seq, state]) => ({ seq, state }));
  return {
    insert: appended.filter(stays),
    rewrite: replaced.filter(stays),
    setState: moved.filter(stays),
    remove: seqsOf([...replaced, ...moved].filter((row) => !stays(row))),
    appended,
    replaced,
    moved,
  };
}

const none: readonly never[] = [];

/** A message that was evicted before. */
function corrected(message: StoredMessage, state: Folded["state"]): StoredMessage & Was & Folded {
  return { ...withState(message, state), was: "evicted" };
}

function stays<Row extends Folded>(row: Row): row is Row & { readonly state: MessageState } {
  return row.state !== "removed";
}

function seqsOf(rows: readonly { readonly seq: number }[]): number[] {
  return rows.map(({ seq }) => seq);
}

/**
 * The seqs of the messages that a folded update expects to find: those it rewrites, moves or removes.
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
  return seqsOf([...replaced, ...moved]);
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
