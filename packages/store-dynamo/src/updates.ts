import { randomUUID } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import {
  checkAgainstStored,
  type FoldedUpdate,
  foldUpdate,
  invalidOption,
  isTurnkeepError,
  utf8Length,
} from "@turnkeep/core/store-kit";
import { type Head, headOf, isPresent, writeHead } from "./heads.ts";
import type { Action, Items, Work } from "./items.ts";
import type { Reads, Run } from "./reads.ts";
import {
  decodeLive,
  divided,
  encodeLive,
  type Line,
  linesOf,
  type Place,
  type Row,
  recentBytes,
  textOf,
} from "./records.ts";
import { liveAfter, nextRow, type RowChanges, recentAfter, rowChanges, rowsAfter } from "./rows.ts";
import type { Staging } from "./staging.ts";

/** What one transaction takes. */
const actionsAtOnce = 100;

/** An item has 400 KB at most, and the rest of a head some 20. */
const liveBytes = 350 * 1024;

/** What is to be done for an update. */
interface Plan {
  /** The first one writes the head. */
  readonly actions: readonly Action[];
  readonly after: Head;
  readonly work: Work;
  readonly isStaged: boolean;
  readonly rows: RowChanges;
}

type Outcome = "done" | "refused" | "again";

/** Changes of a memory, each of which readers see at once or not at all. */
export class Updates {
  readonly #items: Items;
  readonly #reads: Reads;
  readonly #staging: Staging;
  readonly #ttlMs: number | undefined;

  constructor(items: Items, reads: Reads, staging: Staging, ttlMs: number | undefined) {
    this.#items = items;
    this.#reads = reads;
    this.#staging = staging;
    this.#ttlMs = ttlMs;
  }

  /** Answers the state after the update; `undefined`: it was refused, and the head says why. */
  async apply(run: Run, memoryId: string, change: MemoryUpdate, base: Head): Promise<Head | undefined> {
    for (;;) {
      const plan = await this.#plan(run, memoryId, change, base);
      const outcome = plan === undefined ? "refused" : await this.#carryOut(run, memoryId, change, plan);
      if (outcome === "refused") return undefined;
      if (outcome === "done") return plan?.after;
    }
  }

  async #plan(run: Run, memoryId: string, change: MemoryUpdate, base: Head): Promise<Plan | undefined> {
    if (!isPresent(base)) return undefined;
    const folded = foldUpdate(change);
    const { life } = base;
    const count = base.count + 1;
    const before = decodeLive(memoryId, base.live);
    const recent = new Map(linesOf(memoryId, base.recent).map((line) => [line.seq, line]));
    const stored = await this.#stored(run, memoryId, change, folded, base, before, recent);
    if (stored === undefined) return undefined;

    const kept = recentAfter(folded, recent);
    const fits = utf8Length(textOf(kept)) <= recentBytes;
    const live = liveAfter(folded, before);
    const token = randomUUID();
    const next = [
      ...(fits ? [] : divided(kept, live)).map(({ key, lines }) => nextRow(key, lines, token)),
      ...rowsAfter(folded, stored, count, token),
    ];
    for (const { lines, key, token: apart } of next) {
      for (const { seq, edit } of lines) {
        if (live.has(seq)) live.set(seq, { edit, apart: apart === undefined ? 0 : key });
      }
    }
    const rows = rowChanges(this.#items, memoryId, life, next, count);
    const after = this.#headAfter(change, base, encodeLive(live), fits ? textOf(kept) : "");
    const isBeginning = change.expected === null;
    const isStaged = rows.parts.length > 0 || (isBeginning && rows.ids.length > 0);
    const prefixes = isBeginning ? [`${life}/`] : rows.prefixes;
    const about = { memory: memoryId, life, token, prefixes };
    const work: Work = { ...about, stage: "staging", updatedAt: after.updatedAt };
    const actions = [
      writeHead(this.#items, memoryId, change.expected, after),
      ...rows.actions,
      ...(await this.#marks(run, memoryId, life, folded, before)),
      ...this.#staging.commit(work, isStaged, rows.garbage),
      ...(isBeginning ? this.#items.entries(memoryId, life, change.owner) : []),
    ];
    // What brings many messages back reads many rows. The version vouches for them; a check besides tells of a read that
    // met an update half done.
    if (actions.length + rows.checks.length <= actionsAtOnce) actions.push(...rows.checks);
    if (actions.length > actionsAtOnce) {
      throw invalidOption(
        `The update changes ${actions.length} items of the table, and ${actionsAtOnce} fit into a transaction: replace, remove or move fewer messages at a time`,
      );
    }
    return { actions, after, work, isStaged, rows };
  }

  #headAfter(change: MemoryUpdate, base: Head, live: string, recent: string): Head {
    if (live.length > liveBytes) {
      throw invalidOption(
        `The live messages of a memory are too scattered: the list of their seqs has ${live.length} bytes, and ${liveBytes} fit`,
      );
    }
    const { version, nextSeq, head = base.head } = change;
    const updatedAt = Date.now();
    const endsAt = this.#ttlMs === undefined ? undefined : updatedAt + this.#ttlMs;
    return { ...base, version, nextSeq, head, live, recent, count: base.count + 1, updatedAt, endsAt };
  }

  /**
   * The rows with what the update names and the head does not hold, after the checks of what it names. `undefined`: what
   * was read is not what the update was computed from.
   */
  async #stored(
    run: Run,
    memoryId: string,
    change: MemoryUpdate,
    { rewrite, setState, remove }: FoldedUpdate,
    base: Head,
    before: ReadonlyMap<number, Place>,
    recent: ReadonlyMap<number, Line>,
  ): Promise<Row[] | undefined> {
    const replaced = rewrite.map(({ seq }) => seq);
    const gone = setState.map(({ seq }) => seq).filter((seq) => !before.has(seq));
    const asked = [...replaced, ...remove, ...gone].filter((seq) => !recent.has(seq));
    const stored = await this.#reads.rowsWith(run, memoryId, base.life, asked);
    const lines = new Map(stored.flatMap((row) => row.lines).map((line) => [line.seq, line]));
    const find = (seq: number) => {
      const id = (recent.get(seq) ?? lines.get(seq))?.id ?? (before.has(seq) ? "" : undefined);
      return id === undefined ? undefined : ({ id, state: before.has(seq) ? "live" : "evicted" } as const);
    };
    if (replaced.some((seq) => before.has(seq) && find(seq)?.id === "")) return undefined;
    try {
      checkAgainstStored(memoryId, change, { nextSeq: base.nextSeq, find });
      return stored;
    } catch (error) {
      // What was read may be newer than what the update was computed from.
      const head = await this.#reads.head(run, memoryId);
      const version = head !== undefined && isPresent(head) ? head.version : null;
      if (isTurnkeepError(error, "INVALID_OPTION") && version !== change.expected) return undefined;
      throw error;
    }
  }

  async #marks(
    run: Run,
    memoryId: string,
    life: string,
    { insert, rewrite, setState }: FoldedUpdate,
    before: ReadonlyMap<number, Place>,
  ): Promise<Action[]> {
    const superseded = [...insert, ...rewrite, ...setState].filter(({ state }) => state === "superseded");
    const add = superseded.map(({ seq }) => seq);
    const drop = setState.flatMap(({ seq, state }) =>
      state !== "superseded" && !before.has(seq) ? [seq] : [],
    );
    const isMixed = add.length > 0 && drop.length > 0;
    const known = await this.#reads.superseded(run, memoryId, life, isMixed ? drop : []);
    return this.#items.markActions(memoryId, life, { add, drop }, known);
  }

  async #carryOut(run: Run, memoryId: string, change: MemoryUpdate, plan: Plan): Promise<Outcome> {
    const { isStaged, work, rows } = plan;
    const staging = this.#staging;
    if (isStaged) await staging.begin(run, work, rows.parts);
    await staging.putAll(run, rows.ids);
    const outcome = await this.#commit(run, memoryId, change, plan.actions);
    if (outcome !== "done") {
      if (isStaged) await staging.abandon(run, work);
      return outcome;
    }
    // The update is in place; what is left to remove does not show, and a sweep or the memory's end removes it.
    if (rows.garbage.length > 0)
      await staging.finish(run, { ...work, prefixes: rows.garbage }).catch(() => {});
    await staging.deleteAll(run, rows.idsGone).catch(() => {});
    return outcome;
  }

  /** `again`: what stood in the way is gone, or rows were not as they had been read. */
  async #commit(
    run: Run,
    memoryId: string,
    change: MemoryUpdate,
    actions: readonly Action[],
  ): Promise<Outcome> {
    const [only, ...more] = actions;
    const { refused } = await run(
      only !== undefined && more.length === 0
        ? this.#items.alone(only)
        : this.#items.transact(actions, randomUUID()),
    );
    if (refused === undefined) return "done";
    const [head, ...others] = refused;
    if (head?.code === "None") {
      return others.some(({ code }) => code === "ConditionalCheckFailed") ? "again" : "refused";
    }
    const old = head?.item && headOf(head.item);
    if (change.expected !== null || old === undefined || isPresent(old)) return "refused";
    await this.#staging.end(run, memoryId, old, this.#staging.expire(memoryId, old.life));
    return "again";
  }
}
