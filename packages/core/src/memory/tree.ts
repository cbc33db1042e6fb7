import type { MemorySettings } from "../memory-settings.ts";
import { type Item, type ItemMeta, readableMeta, readItem } from "../steps/item.ts";
import type { MessageState } from "../store-contract.ts";
import type { Gap } from "./head.ts";
import type { StoredRecord } from "./outcomes.ts";

/** A message as one of the tree that a conversation becomes by edits and regenerated answers. */
export interface TreeNode<M> {
  readonly seq: number;
  /** See {@link parentOf}. */
  readonly parent: number;
  readonly state: MessageState;
  readonly item: Item<M>;
}

/** What is gone of branches that have lost their first message: see {@link Head.lost}. */
export type Gaps = readonly Gap[];

/**
 * The `seq` of the message that this one follows; 0: none. Versions of one message have the same. If the message with that
 * `seq` is gone, it follows the last that is left before it.
 */
export function parentOf<M>(message: Item<M> | StoredRecord, lost: Gaps): number {
  return parentIn(message.seq, metaOf(message), lost);
}

/** The same; `undefined` for a message that stands apart from the others: a prompt in front, a derived message. */
export function parentInTree<M>(
  message: Pick<Item<M>, "seq" | "role" | "meta">,
  settings: MemorySettings<M>,
  lost: Gaps,
): number | undefined {
  const { seq, meta } = message;
  if (settings.isFront(message) || meta.derived !== undefined) return undefined;
  return parentIn(seq, meta, lost);
}

function parentIn(seq: number, { parent }: ItemMeta, lost: Gaps): number {
  let follows = parent ?? seq - 1;
  for (let gap = gapAt(follows, lost); gap !== undefined; gap = gapAt(follows, lost)) follows = gap.parent;
  return follows;
}

/** Whether it does not follow the message before it. */
export function beginsBranch<M>(message: Item<M> | StoredRecord): boolean {
  return metaOf(message).parent !== undefined;
}

/** The gap that holds a message. */
export function gapAt(seq: number, lost: Gaps): Gap | undefined {
  return lost.find(({ from, through }) => from <= seq && seq <= through);
}

function metaOf<M>(message: Item<M> | StoredRecord): ItemMeta {
  return readableMeta("state" in message ? message.meta : message.metaText);
}

/** `undefined` for a message that stands apart from the others: see {@link parentInTree}. */
export function nodeOf<M>(
  record: StoredRecord,
  settings: MemorySettings<M>,
  lost: Gaps,
): TreeNode<M> | undefined {
  const { seq, state } = record;
  const item = readItem(record, settings.reader);
  const parent = parentInTree({ seq, role: item.role, meta: metaOf(record) }, settings, lost);
  return parent === undefined ? undefined : { seq, parent, state, item };
}

/**
 * Tells what each of the messages after a place follows of those that are left; to be asked of all of them in order. What
 * follows something before that place, or that place, follows that still.
 */
export function leftBehind(place: number): (node: Pick<TreeNode<unknown>, "seq" | "parent">) => number {
  const seqs = [place];
  return ({ seq, parent }) => {
    const follows = seqs.findLast((other) => other <= parent) ?? parent;
    seqs.push(seq);
    return follows;
  };
}

/** Finds what stands before a message on its branch; to be asked of all that was said before, newest first. */
export class Ancestry<M> {
  /** What is looked for; 0: nothing more. */
  next: number;
  readonly #settings: MemorySettings<M>;
  readonly #lost: Gaps;

  constructor(parent: number, settings: MemorySettings<M>, lost: Gaps) {
    this.next = parent;
    this.#settings = settings;
    this.#lost = lost;
  }

  /** The message, if it is of the branch. */
  find(record: StoredRecord): TreeNode<M> | undefined {
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
export function branchOf<M>(target: number, fork: number, nodes: readonly TreeNode<M>[]): TreeNode<M>[] {
  const before = new Map<number, TreeNode<M> | undefined>();
  const bySeq = new Map<number, TreeNode<M>>();
  const behind = new Set<number>();
  const leftBefore = leftBehind(fork);
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
