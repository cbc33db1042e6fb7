import type { MemorySettings } from "../memory-settings.ts";
import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { MemorySnapshot } from "../store-contract.ts";
import { type BranchStart, decodeHead, type Gap } from "./head.ts";
import type { Lease } from "./lease.ts";

/** A memory as it was read, or as it is after this instance's last change. */
export interface Loaded<M> {
  readonly version: string | null;
  readonly nextSeq: number;
  /** JSON text: see `ChatMemory.update`. */
  readonly data: string | undefined;
  /** Raised by every change of the view other than at its end. */
  readonly epoch: number;
  /** See {@link Head.life}; `""` for a memory that does not exist. */
  readonly life: string;
  /** Who holds the turn, if anybody does. */
  readonly turn: Lease | undefined;
  /** See {@link Head.branch}. */
  readonly branch: BranchStart | undefined;
  /** See {@link Head.lost}. */
  readonly lost: readonly Gap[];
  /** See {@link Head.said}. */
  readonly said: string | undefined;
  readonly live: Live<M>;
}

/** Reads what the store answered. Items of an earlier reading are `reused` where it has them unchanged. */
export function loadedFrom<M>(
  snapshot: MemorySnapshot,
  { memoryId, reader, isFront }: MemorySettings<M>,
  reused: readonly Item<M>[] = [],
): Loaded<M> {
  const { version, nextSeq, data } = snapshot;
  const { epoch, life, turn, branch, lost = [], said } = decodeHead(memoryId, snapshot.head);
  const reusedBySeq = new Map(reused.map((item) => [item.seq, item]));
  const items = snapshot.messages.map((stored) => {
    const item = reusedBySeq.get(stored.seq);
    const isSame =
      item?.id === stored.id &&
      item.createdAt === stored.createdAt &&
      item.payload === stored.payload &&
      item.metaText === stored.meta;
    return isSame ? item : readItem(stored, reader);
  });
  return { version, nextSeq, data, epoch, life, turn, branch, lost, said, live: new Live(items, isFront) };
}
