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
import type { Item } from "./client.ts";
import { type Head, headOf, isPresent, writeHead } from "./heads.ts";
import type { Action, Condition, Items, Work } from "./items.ts";
import type { Reads, Run } from "./reads.ts";
import {
  decodeLive,
  divided,
  encodeLive,
  inItsRow,
  insideBytes,
  type Line,
  lineOf,
  linesOf,
  type Place,
  type Row,
  recentBytes,
  textOf,
} from "./records.ts";
import type { Staging } from "./staging.ts";

/** What one transaction takes. */
const actionsAtOnce = 100;

/** An item has 400 KB at most, and the rest of a head some 20. */
const liveBytes = 350 * 1024;

/** A row as an update leaves it. */
interface NextRow {
  readonly key: number;
  readonly lines: readonly Line[];
  /** As it stands there. */
  readonly old: Row | undefined;
  readonly isChanged: boolean;
}

/** What is to be done for an update. */
interface Plan {
  /** The first one writes the head. */
  readonly actions: readonly Action[];
  readonly after: Head;
  readonly work: Work;
  readonly isStaged: boolean;
  readonly parts: readonly Item[];
  readonly garbage: readonly string[];
  /** What leads from an id to a row: written before the row is there, and removed after it has gone. */
  readonly ids: readonly Item[];
  readonly idsGone: readonly Item[];
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
    const items = this.#items;
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
    const rows: NextRow[] = [
      ...(fits ? [] : divided(kept, live)).map((row) => ({ ...row, old: undefined, isChanged: true })),
      ...rowsAfter(folded, stored, recent, count),
    ];
    const token = randomUUID();
    const actions: Action[] = [];
    const [parts, garbage, ids, idsGone]: [Item[], string[], Item[], Item[]] = [[], [], [], []];
    for (const { key, lines, old, isChanged } of rows) {
      const rowText = textOf(lines);
      const isApart = isChanged ? utf8Length(rowText) > insideBytes : old?.token !== undefined;
      for (const { seq, edit } of lines) if (live.has(seq)) live.set(seq, { edit, apart: isApart ? key : 0 });
      if (!isChanged) continue;
      const condition = old && isAt(old.count);
      const row = { key, count, token: isApart ? token : undefined };
      const [item, ...itsParts] = items.rowItems(memoryId, life, row, rowText) as [Item, ...Item[]];
      parts.push(...itsParts);
      if (lines.length > 0) actions.push(items.put(item, condition));
      else actions.push(items.delete(items.keyOf(item), condition));
      if (old?.token !== undefined) garbage.push(items.partSort(items.sortOf(item), old.token));
      if (old === undefined) ids.push(...lines.map(({ id, seq }) => items.idKey(memoryId, life, id, seq)));
      const left = new Set(lines.map(({ seq }) => seq));
      for (const { id, seq } of old?.lines ?? []) {
        if (!left.has(seq)) idsGone.push(items.idKey(memoryId, life, id, seq));
      }
    }

    const now = Date.now();
    const after: Head = {
      ...{
        version: change.version,
        nextSeq: change.nextSeq,
        owner: base.owner,
        head: change.head ?? base.head,
      },
      ...{ live: encodeLive(live), recent: fits ? textOf(kept) : "", life, count, updatedAt: now },
      endsAt: this.#ttlMs === undefined ? undefined : now + this.#ttlMs,
    };
    if (after.live.length > liveBytes) {
      throw invalidOption(
        `The live messages of a memory are too scattered: the list of their seqs has ${after.live.length} bytes, and ${liveBytes} fit`,
      );
    }
    const isBeginning = change.expected === null;
    const isStaged = parts.length > 0 || (isBeginning && ids.length > 0);
    const prefixes = isBeginning ? [`${life}/`] : [...new Set(parts.map((part) => this.#prefixOf(part)))];
    const work: Work = {
      ...{ memory: memoryId, life, token },
      ...{ stage: "staging", prefixes, updatedAt: now },
    };
    const all = [
      writeHead(items, memoryId, change.expected, after),
      ...actions,
      ...(await this.#marks(run, memoryId, life, folded, before)),
      ...this.#staging.commit(work, isStaged, garbage),
      ...(isBeginning ? items.entries(memoryId, life, change.owner) : []),
    ];
    if (all.length > actionsAtOnce) {
      throw invalidOption(
        `The update changes ${all.length} items of the table, and ${actionsAtOnce} fit into a transaction: replace, remove or move fewer messages at a time`,
      );
    }
    return { actions: all, after, work, isStaged, parts, garbage, ids, idsGone };
  }

  #prefixOf(part: Item): string {
    return this.#items.sortOf(part).replace(/[^/]*$/, "");
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
    const { parts, ids, idsGone, isStaged, garbage, work } = plan;
    const staging = this.#staging;
    if (isStaged) await staging.begin(run, work, parts);
    await staging.putAll(run, ids);
    const outcome = await this.#commit(run, memoryId, change, plan.actions);
    if (outcome !== "done") {
      if (isStaged) await staging.abandon(run, work);
      return outcome;
    }
    // The update is in place; what is left to remove does not show, and a sweep or the memory's end removes it.
    if (garbage.length > 0) await staging.finish(run, { ...work, prefixes: garbage }).catch(() => {});
    await staging.deleteAll(run, idsGone).catch(() => {});
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

/** The row is the one that was read. */
function isAt(count: number): Condition {
  return { expression: "#c = :count", values: { ":count": { N: String(count) } } };
}

/** What the head would hold of messages after an update. */
function recentAfter({ insert, rewrite, remove }: FoldedUpdate, recent: ReadonlyMap<number, Line>): Line[] {
  const kept = new Map(recent);
  for (const message of rewrite) if (kept.has(message.seq)) kept.set(message.seq, lineOf(message));
  for (const message of insert) kept.set(message.seq, lineOf(message));
  for (const seq of remove) kept.delete(seq);
  return [...kept.values()];
}

/** The rows that were read, as an update leaves them. */
function rowsAfter(
  { rewrite, remove }: FoldedUpdate,
  stored: readonly Row[],
  recent: ReadonlyMap<number, Line>,
  count: number,
): NextRow[] {
  const fresh = rewrite.filter(({ seq }) => !recent.has(seq)).map((message) => lineOf(message, count));
  const rewritten = new Map(fresh.map((line) => [line.seq, line]));
  const removed = new Set(remove);
  return stored.map((old) => {
    const isChanged = old.lines.some(({ seq }) => removed.has(seq) || rewritten.has(seq));
    const left = old.lines.filter(({ seq }) => !removed.has(seq));
    return { key: old.key, lines: left.map((line) => rewritten.get(line.seq) ?? line), old, isChanged };
  });
}

/** Which messages are live after an update; where, is known from the rows. */
function liveAfter(
  { insert, rewrite, setState, remove }: FoldedUpdate,
  before: ReadonlyMap<number, Place>,
): Map<number, Place> {
  const live = new Map(before);
  for (const { seq, state } of [...insert, ...rewrite, ...setState]) {
    if (state === "live") live.set(seq, live.get(seq) ?? inItsRow);
    else live.delete(seq);
  }
  for (const seq of remove) live.delete(seq);
  return live;
}
