import { quoted, TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { Limits } from "../window/limits.ts";
import type { Attempt, Reading } from "./attempt.ts";
import { notFound } from "./change.ts";
import type { Call } from "./deadline.ts";
import { loadedFrom } from "./loaded.ts";
import { checkOwned } from "./owner.ts";
import { chooseReturning } from "./refill.ts";
import { allRecords, findRecord } from "./stored-records.ts";

/** What a fork copies, read once, before anything is written. */
export interface ForkSource<M> {
  readonly owner: string | undefined;
  readonly epoch: number;
  readonly messages: readonly Item<M>[];
  readonly evicted: ReadonlySet<Item<M>>;
}

/** Reads a memory up to and including message `at`, and decides which messages are live in the fork. */
export async function readForkSource<M>(
  settings: MemorySettings<M>,
  at: string | undefined,
  limits: Limits,
  call: Call,
): Promise<ForkSource<M>> {
  const { store, memoryId } = settings;
  const { signal } = call;
  let snapshot = await store.getMessages(memoryId, { signal });
  for (;;) {
    checkOwned(settings, snapshot);
    const { owner } = snapshot;
    const reading = { loaded: loadedFrom(snapshot, settings), settings, call };
    const source = { owner, ...(await readAsOf(reading, at, limits)) };
    // History pages are not a snapshot: messages that others changed in the meantime may be missing or have moved.
    const now = await store.getMessages(memoryId, { signal, known: snapshot.version ?? undefined });
    signal.throwIfAborted();
    if (now.version === snapshot.version) return source;
    snapshot = now;
  }
}

async function readAsOf<M>(
  reading: Reading<M>,
  at: string | undefined,
  limits: Limits,
): Promise<Omit<ForkSource<M>, "owner">> {
  const { loaded, settings } = reading;
  const { memoryId, reader, isFront } = settings;
  if (loaded.version === null) {
    throw new TurnkeepError("NOT_FOUND", `There is no memory ${quoted(memoryId)} to fork from.`, {
      details: { memoryId },
    });
  }
  const through = at === undefined ? loaded.nextSeq - 1 : await seqOf(at, reading);
  const live = loaded.live.items.filter(
    (item) => isFront(item) || (item.meta.derived?.through ?? item.seq) <= through,
  );
  const taken = new Set(live.map((item) => item.seq));
  const records = await allRecords({ before: through + 1, states: ["live", "evicted"] }, reading);
  const left = records.filter(({ seq }) => !taken.has(seq)).map((record) => readItem(record, reader));
  const covered = live.reduce((seq, item) => Math.max(seq, item.meta.derived?.through ?? 0), 0);
  const readable = at === undefined ? [] : left.filter((item) => item.error === undefined);
  const candidates = readable.filter((item) => item.seq > covered);
  const begun = readable.filter((item) => item.seq <= covered);
  const returning = new Set(chooseReturning(new Live(live, isFront), candidates, settings, limits, begun));
  return {
    epoch: loaded.epoch + (at === undefined ? 0 : 1),
    messages: [...live, ...left].sort((a, b) => a.seq - b.seq),
    evicted: new Set(left.filter((item) => !returning.has(item))),
  };
}

/** Begins the new memory with what was read. Errors: `ID_CONFLICT` if it exists. */
export function writeFork<M>({ draft, loaded, settings }: Attempt<M>, source: ForkSource<M>): void {
  const { memoryId } = settings;
  if (loaded.version !== null) {
    throw new TurnkeepError(
      "ID_CONFLICT",
      `There is a memory ${quoted(memoryId)} already. Fork to an id that is free, or clear that memory first.`,
      { details: { memoryId } },
    );
  }
  draft.adopt(source.messages, source.evicted, source.epoch);
}

async function seqOf<M>(at: string, reading: Reading<M>): Promise<number> {
  const stored = reading.loaded.live.byId.get(at) ?? (await findRecord(at, reading, ["live", "evicted"]));
  if (stored !== undefined) return stored.seq;
  throw notFound(at, reading.settings, "there is no such message, or it was superseded");
}
