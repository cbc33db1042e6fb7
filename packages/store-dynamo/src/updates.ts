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
import type { Item, Run } from "./client.ts";
import { type Head, headOf, isPresent, writeHead } from "./heads.ts";
import { type Action, type Items, number, type Work } from "./items.ts";
import { chunks, inTurn, type Reads, type Scope } from "./reads.ts";
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
  /** What is written before the transaction, announced by the work; absent: there is no work. */
  readonly staged: readonly Item[] | undefined;
  /** What the work is once the transaction is done; absent: there is no more to do. */
  readonly next: Work | undefined;
  /** Rows that were read and that the transaction does not check. */
  readonly unchecked: readonly Row[];
  readonly rows: RowChanges;
}

/** What an update comes to. */
interface Whole extends Pick<Plan, "after" | "rows"> {
  readonly token: string;
  readonly marks: readonly Action[];
  /** The rows that were read. */
  readonly stored: readonly Row[];
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
    const scope = { run, memoryId, life: base.life };
    await this.#staging.catchUp(run, memoryId, base);
    for (;;) {
      const plan = await this.#plan(scope, change, base);
      const outcome = plan === undefined ? "refused" : await this.#carryOut(scope, change, plan);
      if (outcome === "refused") return undefined;
      if (outcome === "done") return plan?.after;
    }
  }

  async #plan(scope: Scope, change: MemoryUpdate, base: Head): Promise<Plan | undefined> {
    if (!isPresent(base)) return undefined;
    const { memoryId, life } = scope;
    const folded = foldUpdate(change);
    const before = decodeLive(memoryId, base.live);
    const recent = new Map(linesOf(memoryId, base.recent).map((line) => [line.seq, line]));
    const stored = await this.#stored(scope, change, folded, base, before, recent);
    if (stored === undefined) return undefined;

    const kept = recentAfter(folded, recent);
    const fits = utf8Length(textOf(kept)) <= recentBytes;
    const live = liveAfter(folded, before);
    const [count, token] = [base.count + 1, randomUUID()];
    const next = [
      ...(fits ? [] : divided(kept, live)).map(({ key, lines }) => nextRow(key, lines, token)),
      ...rowsAfter(folded, stored, count, token),
    ];
    for (const { lines, key, token: apart } of next) {
      for (const { seq, edit } of lines) {
        if (live.has(seq)) live.set(seq, { edit, apart: apart === undefined ? 0 : key });
      }
    }
    const rows = rowChanges(this.#items, memoryId, life, next, { count, token });
    const after = this.#headAfter(change, base, encodeLive(live), fits ? textOf(kept) : "");
    const marks = await this.#marks(scope, folded, before);
    return this.#divide(scope, change, { token, after, rows, marks, stored });
  }

  /**
   * What is written when. Rows that were there and are too many for the transaction take their places after it
   * (`isLarge`).
   */
  #divide(scope: Scope, change: MemoryUpdate, whole: Whole, isLarge = false): Plan {
    const { token, after, rows, marks, stored } = whole;
    const { memoryId, life } = scope;
    const { expected, owner } = change;
    const isBeginning = expected === null;
    const about = { memory: memoryId, life, token, updatedAt: after.updatedAt };
    const pending = isLarge ? [this.#items.pendingPrefix(life, token)] : [];
    const prefixes = isBeginning ? [`${life}/`] : [...pending, ...rows.prefixes];
    const work: Work = { ...about, stage: "staging", prefixes };
    const parts = isLarge ? [...rows.parts, ...rows.pending] : rows.parts;
    const isStaged = parts.length > 0 || (isBeginning && rows.ids.length > 0);
    const garbage = [...pending, ...rows.garbage];
    const left: Work = { ...about, stage: isLarge ? "applying" : "ending", prefixes: garbage };
    const next = garbage.length > 0 ? left : undefined;
    const head = isLarge ? { ...after, pending: token } : after;
    const actions = [
      writeHead(this.#items, memoryId, expected, head),
      ...[...rows.inserts, ...(isLarge ? [] : rows.updates), ...marks],
      ...this.#staging.commit(work, isStaged, next),
      ...(isBeginning ? this.#items.entries(memoryId, life, owner) : []),
    ];
    const plan = { actions, after: head, work, staged: isStaged ? parts : undefined, next, rows };
    const fits = (list: readonly Action[]): boolean => list.length <= actionsAtOnce;
    const checked = [...actions, ...rows.checks];
    if (!isLarge && fits(checked)) return { ...plan, actions: checked, unchecked: [] };
    if (fits(actions)) return { ...plan, unchecked: stored };
    if (!isLarge && rows.updates.length > 0) return this.#divide(scope, change, whole, true);
    throw invalidOption(
      `The update changes ${actions.length} items of the table at once, and ${actionsAtOnce} fit into a transaction: supersede or bring back messages in fewer thousands of the history at a time`,
    );
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
    const count = base.count + 1;
    return { ...base, version, nextSeq, head, live, recent, pending: undefined, count, updatedAt, endsAt };
  }

  /**
   * The rows with what the update names and the head does not hold, after the checks of what it names. `undefined`: what
   * was read is not what the update was computed from.
   */
  async #stored(
    scope: Scope,
    change: MemoryUpdate,
    { rewrite, setState, remove }: FoldedUpdate,
    base: Head,
    before: ReadonlyMap<number, Place>,
    recent: ReadonlyMap<number, Line>,
  ): Promise<Row[] | undefined> {
    const replaced = rewrite.map(({ seq }) => seq);
    const gone = setState.map(({ seq }) => seq).filter((seq) => !before.has(seq));
    const asked = [...replaced, ...remove, ...gone].filter((seq) => !recent.has(seq));
    const stored = await this.#reads.rowsWith(scope, asked);
    const lines = new Map(stored.flatMap((row) => row.lines).map((line) => [line.seq, line]));
    const find = (seq: number) => {
      const id = (recent.get(seq) ?? lines.get(seq))?.id ?? (before.has(seq) ? "" : undefined);
      return id === undefined ? undefined : ({ id, state: before.has(seq) ? "live" : "evicted" } as const);
    };
    if (replaced.some((seq) => before.has(seq) && find(seq)?.id === "")) return undefined;
    try {
      checkAgainstStored(scope.memoryId, change, { nextSeq: base.nextSeq, find });
      return stored;
    } catch (error) {
      // What was read may be newer than what the update was computed from.
      const head = await this.#reads.head(scope.run, scope.memoryId);
      const version = head !== undefined && isPresent(head) ? head.version : null;
      if (isTurnkeepError(error, "INVALID_OPTION") && version !== change.expected) return undefined;
      throw error;
    }
  }

  async #marks(
    scope: Scope,
    { insert, rewrite, setState }: FoldedUpdate,
    before: ReadonlyMap<number, Place>,
  ): Promise<Action[]> {
    const superseded = [...insert, ...rewrite, ...setState].filter(({ state }) => state === "superseded");
    const add = superseded.map(({ seq }) => seq);
    const drop = setState.flatMap(({ seq, state }) =>
      state !== "superseded" && !before.has(seq) ? [seq] : [],
    );
    const isMixed = add.length > 0 && drop.length > 0;
    const known = await this.#reads.superseded(scope, isMixed ? drop : []);
    return this.#items.markActions(scope.memoryId, scope.life, { add, drop }, known);
  }

  async #carryOut(scope: Scope, change: MemoryUpdate, plan: Plan): Promise<Outcome> {
    const { staged, work, next, unchecked, rows } = plan;
    const [{ run, memoryId }, staging] = [scope, this.#staging];
    if (!(await this.#areAsRead(scope, unchecked))) return "refused";
    if (staged !== undefined) await staging.begin(run, work, staged);
    await staging.putAll(run, rows.ids);
    const outcome = await this.#commit(run, memoryId, change, plan.actions);
    if (outcome !== "done") {
      if (staged !== undefined) await staging.abandon(run, work);
      return outcome;
    }
    // The update is in place; what is left to do does not show, and the next update, a sweep or the memory's end does it.
    if (next !== undefined) await staging.finish(run, next).catch(() => {});
    await staging.deleteAll(run, rows.idsGone).catch(() => {});
    return outcome;
  }

  /** Whether rows are what was read. It may have been read while a transaction was being applied, each item by itself. */
  async #areAsRead({ run, memoryId, life }: Scope, rows: readonly Row[]): Promise<boolean> {
    const answers = await inTurn(chunks(rows, actionsAtOnce), async (some) => {
      const keys = some.map(({ key }) => this.#items.rowKey(memoryId, life, key));
      const { Responses } = await run(this.#items.counts(keys));
      return some.every(({ count }, index) => number(Responses?.[index]?.Item?.count) === count);
    });
    return !answers.includes(false);
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
