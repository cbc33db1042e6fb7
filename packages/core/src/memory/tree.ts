import type { MemorySettings } from "../memory-settings.ts";
import { type Item, type ItemMeta, readableMeta, readItem } from "../steps/item.ts";
import type { MessageState } from "../store-contract.ts";
import type { BranchStart } from "./head.ts";
import type { StoredRecord } from "./outcomes.ts";

/** A message as one of the tree that a conversation becomes by edits and regenerated answers. */
export interface TreeNode<M> {
  readonly seq: number;
  /** See {@link parentOf}. */
  readonly parent: number;
  readonly state: MessageState;
  readonly item: Item<M>;
}

/** Where branches begin whose first messages were removed: see {@link Head.lost}. */
export type LostStarts = readonly BranchStart[];

/** The `seq` of the message that this one follows; 0: none. Versions of one message have the same. */
export function parentOf<M>(message: Item<M> | StoredRecord, lost: LostStarts): number {
  return parentIn(message.seq, metaOf(message), lost);
}

/** The same; `undefined` for a message that stands apart from the others: a prompt in front, a derived message. */
export function parentInTree<M>(
  message: Pick<Item<M>, "seq" | "role" | "meta">,
  settings: MemorySettings<M>,
  lost: LostStarts,
): number | undefined {
  const { seq, meta } = message;
  if (settings.isFront(message) || meta.derived !== undefined) return undefined;
  return parentIn(seq, meta, lost);
}

function parentIn(seq: number, { parent }: ItemMeta, lost: LostStarts): number {
  return parent ?? lost.find((start) => start.seq === seq)?.parent ?? seq - 1;
}

/** Where the branch begins whose first message this is, once that is gone. */
export function startBehind<M>(message: Item<M> | StoredRecord): BranchStart[] {
  const { parent } = metaOf(message);
  return parent === undefined ? [] : [{ seq: message.seq + 1, parent }];
}

function metaOf<M>(message: Item<M> | StoredRecord): ItemMeta {
  return readableMeta("state" in message ? message.meta : message.metaText);
}

/** `undefined` for a message that stands apart from the others: see {@link parentInTree}. */
export function nodeOf<M>(
  record: StoredRecord,
  settings: MemorySettings<M>,
  lost: LostStarts,
): TreeNode<M> | undefined {
  const { seq, state } = record;
  const item = readItem(record, settings.reader);
  const parent = parentInTree({ seq, role: item.role, meta: metaOf(record) }, settings, lost);
  return parent === undefined ? undefined : { seq, parent, state, item };
}

/**
 * What a message follows of what is left, where the newest that is left of what was before it has the `seq` `left`. It may
 * be of another branch; then the answer is less, and may be gone too.
 */
export function leftOf(parent: number, left: number, lost: LostStarts): number {
  let follows = parent;
  while (follows > left) {
    const begun = lost.findLast(({ seq }) => seq <= follows + 1 && seq > left + 1);
    follows = begun?.parent ?? left;
  }
  return follows;
}

/**
 * Tells what each of the messages after a place follows of those that are left; to be asked of all of them in order. What
 * follows something before that place, or that place, follows that still.
 */
export function leftBehind(
  place: number,
  lost: LostStarts,
): (node: Pick<TreeNode<unknown>, "seq" | "parent">) => number {
  const seqs = [place];
  const known = new Set(seqs);
  return ({ seq, parent }) => {
    let follows = parent;
    while (follows > place && !known.has(follows)) {
      const left = seqs.findLast((other) => other <= follows) ?? place;
      follows = leftOf(follows, left, lost);
    }
    seqs.push(seq);
    known.add(seq);
    return follows;
  };
}

/** Finds what stands before a message on its branch; to be asked of all that was said before, newest first. */
export class Ancestry<M> {
  /** What is looked for; 0: nothing more. */
  next: number;
  readonly #settings: MemorySettings<M>;
  readonly #lost: LostStarts;

  constructor(parent: number, settings: MemorySettings<M>, lost: LostStarts) {
    this.next = parent;
    this.#settings = settings;
    this.#lost = lost;
  }

  /** The message, if it is of the branch. */
  find(record: StoredRecord): TreeNode<M> | undefined {
    if (record.seq > this.next) return undefined;
    this.next = leftOf(this.next, record.seq, this.#lost);
    if (record.seq > this.next) return undefined;
    const node = nodeOf(record, this.#settings, this.#lost);
    this.next = node?.parent ?? this.next - 1;
    return node;
  }
}

/**
 * The branch on which a message stands, from the fork on. Where others begin behind the message, the one on which something
 * was said last.
 *
 * @param nodes All that was said after the fork, by `seq`.
 */
export function branchOf<M>(
  target: number,
  fork: number,
  nodes: readonly TreeNode<M>[],
  lost: LostStarts,
): TreeNode<M>[] {
  const before = new Map<number, TreeNode<M> | undefined>();
  const bySeq = new Map<number, TreeNode<M>>();
  const behind = new Set<number>();
  const leftBefore = leftBehind(fork, lost);
  let last: TreeNode<M> | undefined;
  for (const node of nodes) {
    const parent = leftBefore(node);
    before.set(node.seq, bySeq.get(parent));
    bySeq.set(node.seq, node);
    if (node.seq !== target && !behind.has(parent)) continue;
    behind.add(node.seq);
    last = node;
  }
  const branch: TreeNode<M>[] = [];
  for (let node = last; node !== undefined; node = before.get(node.seq)) branch.push(node);
  return branch.reverse();
}
