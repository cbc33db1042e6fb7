import { TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { MemorySnapshot } from "../store-contract.ts";
import { quoted } from "../stores/text.ts";
import type { Limits } from "../window/limits.ts";
import { notFound } from "./change.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Loaded } from "./draft.ts";
import { decodeHead } from "./head.ts";
import { allKept, findKept } from "./kept.ts";
import { checkOwned } from "./owner.ts";
import { chooseReturning } from "./refill.ts";

/** What a fork copies, read once, before anything is written. */
export interface ForkSource<M> {
  readonly owner: string | undefined;
  readonly epoch: number;
  readonly messages: readonly Item<M>[];
  readonly evicted: ReadonlySet<Item<M>>;
}

/** Reads a memory up to and including message `at`, and decides which messages are live in the fork. */
export async function readForkSource<M>(
  source: MemorySettings<M>,
  at: string | undefined,
  limits: Limits,
  call: Call,
): Promise<ForkSource<M>> {
  const { store, memoryId } = source;
  const { signal } = call;
  let snapshot = await store.getMessages(memoryId, { signal });
  for (;;) {
    checkOwned(source, snapshot);
    const read = await readAsOf(snapshot, source, at, limits, call);
    // History pages are not a snapshot: messages that others changed in the meantime may be missing or have moved.
    const now = await store.getMessages(memoryId, { signal, known: snapshot.version ?? undefined });
    signal.throwIfAborted();
    if (now.version === snapshot.version) return read;
    snapshot = now;
  }
}

async function readAsOf<M>(
  snapshot: MemorySnapshot,
  source: MemorySettings<M>,
  at: string | undefined,
  limits: Limits,
  call: Call,
): Promise<ForkSource<M>> {
  const { memoryId, reader, isFront } = source;
  if (snapshot.version === null) {
    throw new TurnkeepError("NOT_FOUND", `There is no memory ${quoted(memoryId)} to fork from.`, {
      details: { memoryId },
    });
  }
  const through = at === undefined ? snapshot.nextSeq - 1 : await seqOf(at, snapshot, source, call);
  const live = snapshot.messages
    .map((stored) => readItem(stored, reader))
    .filter((item) => isFront(item) || (item.meta.derived?.through ?? item.seq) <= through);
  const taken = new Set(live.map((item) => item.seq));
  const kept = await allKept(
    { before: through + 1, states: ["live", "evicted"] },
    { settings: source, call },
  );
  const left = kept.filter((stored) => !taken.has(stored.seq)).map((stored) => readItem(stored, reader));
  const covered = live.reduce((seq, item) => Math.max(seq, item.meta.derived?.through ?? 0), 0);
  const shown = new Live(live, isFront);
  const readable = at === undefined ? [] : left.filter((item) => item.error === undefined);
  const candidates = readable.filter((item) => item.seq > covered);
  const begun = readable.filter((item) => item.seq <= covered);
  const returning = new Set(chooseReturning(shown, candidates, source, limits, begun));
  return {
    owner: snapshot.owner,
    epoch: decodeHead(memoryId, snapshot.head).epoch + (at === undefined ? 0 : 1),
    messages: [...live, ...left].sort((a, b) => a.seq - b.seq),
    evicted: new Set(left.filter((item) => !returning.has(item))),
  };
}

/** Begins the new memory with what was read. Errors: `ID_CONFLICT` if it exists. */
export function writeFork<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  source: ForkSource<M>,
  memoryId: string,
): void {
  if (loaded.version !== null) {
    throw new TurnkeepError(
      "ID_CONFLICT",
      `There is a memory ${quoted(memoryId)} already. Fork to an id that is free, or clear that memory first.`,
      { details: { memoryId } },
    );
  }
  draft.adopt(source.messages, source.evicted, source.epoch);
}

async function seqOf<M>(
  at: string,
  snapshot: MemorySnapshot,
  source: MemorySettings<M>,
  call: Call,
): Promise<number> {
  const found =
    snapshot.messages.find((stored) => stored.id === at) ??
    (await findKept(at, { loaded: snapshot, settings: source, call }, ["live", "evicted"]));
  if (found !== undefined) return found.seq;
  throw notFound(at, source, "there is no such message, or it was superseded");
}
