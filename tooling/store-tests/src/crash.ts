import {
  type ChatMemoryStore,
  type HistoryQuery,
  isTurnkeepError,
  type MemorySnapshot,
  type MemoryUpdate,
} from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { Chain } from "./chain.ts";
import { gate } from "./gate.ts";
import { changed, type Kept, liveOf } from "./model.ts";
import { oneOf, type Random, randomUpdates, seeded, type UpdateSizes } from "./random-updates.ts";

/** A store whose writers crash. */
export interface CrashTarget extends UpdateSizes {
  /** A store of a process that lives, or of one that dies instead of its write of that number. */
  readonly open: (diesAt?: number) => ChatMemoryStore;
  /** A store that takes what others are staging at this moment for left behind, as if they had paused for long. */
  readonly openLate: () => ChatMemoryStore;
  /** So many writes the largest update takes. */
  readonly writes: number;
  /** How many conflicts are to be met, where nobody asks for more. */
  readonly conflicts: number;
  /** Fails unless a memory has nothing but these messages in the database; with none, nothing at all. */
  readonly expectClean: (memoryId: string, kept: readonly Kept[]) => Promise<void>;
}

/** What happens to a memory while it is written. */
interface Troubles {
  readonly crashes: boolean;
  /** Of so many updates one is a delete instead; 0: none is. */
  readonly deletes: number;
  /** All the time, and what is being staged is given up. */
  readonly lateSweeps: boolean;
}

/** What a run was made of. */
interface Tally {
  updates: number;
  conflicts: number;
  crashes: number;
  sweeps: number;
  deletes: number;
  replays: number;
  pages: number;
}

const writers = ["a", "b", "c", "d"];
const states = ["live", "evicted", "superseded"] as const;

/** So many times the tests' usual share, each with a seed of its own: `TURNKEEP_PROPERTY_RUNS` asks for more than 100. */
const runs = Math.ceil(Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 100) / 100);

/** Registers the tests of writers that compete and crash. */
export function describeCrashes(target: CrashTarget): void {
  const seeds = Array.from({ length: runs }, (_, index) => index + 1);
  describe.each(seeds)("four writers (%i)", (seed) => {
    test.each<[string, Troubles, number]>([
      ["of one memory that crash", { crashes: true, deletes: 0, lateSweeps: false }, 0.6],
      ["that crash, of a memory that is deleted", { crashes: true, deletes: 12, lateSweeps: false }, 0.2],
      ["whom sweeps give up", { crashes: false, deletes: 60, lateSweeps: true }, 0.2],
    ])(
      "%s: nothing is lost, doubled, stale or resurrected",
      async (name, troubles, part) => {
        const run = new CrashRun(target, `${name} ${seed}`, seeded(seed), troubles);
        if (troubles.deletes !== 12) await run.fill();
        await run.until(target.conflicts * part);
        await run.end();
        if (runs > 1) console.info(JSON.stringify(run.tally));
      },
      300_000,
    );
  });
}

/** Writers of one memory that know each other only by the database, and a model of what they do. */
class CrashRun {
  readonly tally: Tally = {
    updates: 0,
    conflicts: 0,
    crashes: 0,
    sweeps: 0,
    deletes: 0,
    replays: 0,
    pages: 0,
  };
  readonly #target: CrashTarget;
  readonly #memoryId: string;
  readonly #random: Random;
  readonly #troubles: Troubles;
  readonly #chain = new Chain();
  readonly #next: ReturnType<typeof randomUpdates>;
  readonly #healthy: ChatMemoryStore;
  readonly #late: ChatMemoryStore;
  /** Of the processes that live on. */
  readonly #stores: readonly ChatMemoryStore[];
  #acknowledged: MemoryUpdate[] = [];

  constructor(target: CrashTarget, memoryId: string, random: Random, troubles: Troubles) {
    this.#target = target;
    this.#memoryId = memoryId;
    this.#random = random;
    this.#troubles = troubles;
    this.#late = target.openLate();
    this.#next = randomUpdates(random, target);
    this.#healthy = target.open();
    this.#stores = writers.map(() => target.open());
  }

  /** Messages enough that an update can change very many. */
  async fill(): Promise<void> {
    for (;;) {
      const snapshot = await this.#read(this.#healthy);
      const kept = this.#chain.at(snapshot.version);
      if (kept.length >= this.#target.many) return;
      const change = this.#next(snapshot, kept, "first");
      this.#chain.add(change);
      await this.#write(this.#healthy, change);
    }
  }

  /** As the writers come, then each from a state that the others have read too, until there were so many conflicts. */
  async until(conflicts: number): Promise<void> {
    while (this.tally.conflicts < conflicts / 10) {
      await Promise.all([...writers.map((_, writer) => this.#operate(writer)), this.#page()]);
    }
    await this.#rest();
    for (let round = 1; this.tally.conflicts < conflicts; round++) {
      const meet = meeting(writers.length);
      const page = round % 20 === 0 ? this.#page() : undefined;
      const sweep = round % 2 === 0 && this.#troubles.lateSweeps ? this.#sweep(this.#late) : undefined;
      await Promise.all([...writers.map((_, writer) => this.#operate(writer, meet)), page, sweep]);
      if (this.#random(5) === 0) await this.#replay();
      if (round % (round < 40 ? 8 : 80) === 0) await this.#changeMany();
    }
  }

  /** Two large updates one after the other, which would lose against others; what has died is left to be finished. */
  async #changeMany(): Promise<void> {
    await this.fill();
    for (const _ of [1, 2]) {
      await this.#operate(this.#random(writers.length), undefined, true);
      await this.#rest();
    }
  }

  /** One update, or something rarer, by a process that may die at any of its writes. All that `meet` have read the same. */
  async #operate(
    writer: number,
    meet: () => Promise<void> = async () => {},
    isLarge = this.#random(8) === 0,
  ): Promise<void> {
    const random = this.#random;
    const { crashes, deletes } = this.#troubles;
    const dies = crashes && random(isLarge ? 2 : 3) === 0;
    const diesAt = 1 + random(isLarge ? this.#target.writes : oneOf(random, [2, 9]));
    const store = (dies ? undefined : this.#stores[writer]) ?? this.#target.open(diesAt);
    let met: Promise<void> | undefined;
    try {
      if (random(40) === 0) await this.#sweep(store);
      const snapshot = await this.#read(store);
      const kept = this.#chain.at(snapshot.version);
      const change = this.#next(snapshot, kept, writers[writer] ?? "", isLarge);
      this.#chain.add(change);
      met = meet();
      await met;
      if (deletes > 0 && random(deletes) === 0) {
        this.tally.deletes++;
        await this.#chain.observe(async () => {
          await store.deleteMessages(this.#memoryId);
          return { version: null };
        });
        return;
      }
      this.tally.updates++;
      await this.#write(store, change);
      this.#acknowledged.push(change);
    } catch (error) {
      met ??= meet();
      if (isTurnkeepError(error, "VERSION_CONFLICT")) {
        this.tally.conflicts++;
        return;
      }
      if (!dies || !isTurnkeepError(error, "STORE_UNAVAILABLE")) throw error;
      this.tally.crashes++;
    }
  }

  async #sweep(store: ChatMemoryStore): Promise<void> {
    this.tally.sweeps++;
    await store.sweep();
  }

  async #read(store: ChatMemoryStore): Promise<MemorySnapshot> {
    const snapshot = await this.#chain.observe(() => store.getMessages(this.#memoryId));
    const { version } = snapshot;
    const { nextSeq = 1, head } = this.#chain.madeBy(version) ?? {};
    expect(snapshot).toMatchObject({ nextSeq, messages: liveOf(this.#chain.at(version)) });
    expect(snapshot.head).toBe(head);
    return snapshot;
  }

  async #write(store: ChatMemoryStore, change: MemoryUpdate): Promise<void> {
    await this.#chain.observe(async () => {
      await store.updateMessages(this.#memoryId, change);
      return change;
    });
  }

  /** What was acknowledged is sent again late, as a network might. */
  async #replay(): Promise<void> {
    const change = this.#acknowledged[this.#random(this.#acknowledged.length)];
    // One that begins a memory would do so again where it was deleted.
    if (change === undefined || (this.#troubles.deletes > 0 && change.expected === null)) return;
    this.tally.replays++;
    const store = this.#stores[this.#random(writers.length)] as ChatMemoryStore;
    await this.#write(store, change).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "VERSION_CONFLICT" });
    });
  }

  /** Pages through history while others write: what was never removed is there once, in order. */
  async #page(): Promise<void> {
    const order = oneOf(this.#random, ["ascending", "descending"] as const);
    const before = await this.#read(this.#healthy);
    const found = await this.#history({ order, limit: 37 });
    const after = await this.#read(this.#healthy);
    const path = this.#chain.between(before.version, after.version);
    // Of a life that began or ended meanwhile too little is known.
    if (before.version === null || path === undefined) return;
    const sign = order === "ascending" ? 1 : -1;
    expect(found.map(({ seq }) => seq)).toEqual(
      [...new Set(found.map(({ seq }) => seq))].sort((a, b) => sign * (a - b)),
    );
    const bySeq = new Map(found.map((one) => [one.seq, one]));
    const all = [this.#chain.at(before.version), ...path.map(({ version }) => this.#chain.at(version))];
    const last = new Set(all.at(-1)?.map(({ seq }) => seq));
    const missing = (all[0] ?? []).filter(({ seq }) => last.has(seq) && !bySeq.has(seq));
    expect(missing).toEqual([]);
    const possible = new Set(all.flat().map(({ seq, payload, meta }) => `${seq} ${payload} ${meta}`));
    expect(found.filter(({ seq, payload, meta }) => !possible.has(`${seq} ${payload} ${meta}`))).toEqual([]);
  }

  async #history(query: HistoryQuery): Promise<Kept[]> {
    const found: Kept[] = [];
    for (let from = query; ; ) {
      this.tally.pages++;
      const { messages, hasMore } = await this.#healthy.getHistory(this.#memoryId, from);
      found.push(...messages);
      const last = messages.at(-1)?.seq;
      if (!hasMore || last === undefined) return found;
      from = query.order === "descending" ? { ...from, before: last } : { ...from, after: last };
    }
  }

  /** While nobody writes, every kind of read shows what the model holds. */
  async #rest(): Promise<void> {
    const { version } = await this.#read(this.#healthy);
    await this.#expectHistory(this.#chain.at(version));
  }

  async #expectHistory(kept: readonly Kept[]): Promise<void> {
    expect(await this.#history({ limit: 37 })).toEqual(kept);
    expect(await this.#history({ limit: 50, order: "descending" })).toEqual([...kept].reverse());
    const state = oneOf(this.#random, states);
    expect(await this.#history({ limit: 100, states: [state] })).toEqual(
      kept.filter((one) => one.state === state),
    );
    const ids = kept.filter(() => this.#random(8) === 0).map(({ id }) => id);
    expect(await this.#history({ limit: 1_000, ids: [...ids, "m", "m/"] })).toEqual(
      kept.filter(({ id }) => ids.includes(id)),
    );
  }

  /** Everything that was seen has an explanation; and the next write and a sweep leave nothing but what counts. */
  async end(): Promise<void> {
    await this.#rest();
    const snapshot = await this.#read(this.#healthy);
    expect(this.#chain.fault()).toBeUndefined();
    const before = this.#chain.at(snapshot.version);
    const last = this.#next(snapshot, before, "last");
    await this.#healthy.updateMessages(this.#memoryId, last);
    await this.#late.sweep();
    const kept = changed(before, last);
    expect((await this.#healthy.getMessages(this.#memoryId)).messages).toEqual(liveOf(kept));
    await this.#expectHistory(kept);
    await this.#target.expectClean(this.#memoryId, kept);
    await this.#healthy.deleteMessages(this.#memoryId);
    await this.#late.sweep();
    await this.#target.expectClean(this.#memoryId, []);
    expect(this.tally.crashes > 0).toBe(this.#troubles.crashes);
  }
}

/** Waits until so many have come. */
function meeting(count: number): () => Promise<void> {
  let arrived = 0;
  const { opened, open } = gate();
  return () => {
    if (++arrived === count) open();
    return opened;
  };
}
