/** What an update writes, and when: before its transaction, in it, and after it. */
import { type FoldedUpdate, invalidOption } from "@turnkeep/core/store-kit";
import { type Head, putHead } from "./head.ts";
import type { Life, WorkItem } from "./items.ts";
import type { UpdatePlan } from "./plans.ts";
import type { MessageRow } from "./records.ts";
import { isStaging } from "./staging.ts";
import { type Action, actionsAtOnce, type Condition, type TableItem } from "./table.ts";

export interface Writes {
  /** Rows that must still be as they were read, and that the transaction does not check. */
  readonly unchecked: readonly MessageRow[];
  /** Announces what is staged. */
  readonly work: WorkItem | undefined;
  /** Counts nowhere until the transaction is done. */
  readonly staged: readonly TableItem[];
  /** Of the transaction; the first one writes this head. */
  readonly actions: readonly Action[];
  readonly head: Head;
  /** What is left to do then. */
  readonly next: WorkItem | undefined;
  /** What led to messages that are removed. */
  readonly idsGone: readonly TableItem[];
}

/**
 * One transaction writes all of an update that fits into it. If more rows were read than it can check and write, these
 * are staged, and take their places after it.
 */
export function writesOf(life: Life, update: FoldedUpdate, base: Head, plan: UpdatePlan): Writes {
  const { expected } = update;
  const { table, memoryId } = life;
  const { token, added, rewritten, unchanged, marks } = plan;
  const isBeginning = expected === null;
  const { listing, actions: relisting } = listed(life, base, plan.head);
  const puts = [
    ...[...added.map(({ items }) => items[0]), ...marks].map((item) => table.put(item)),
    ...dataActions(life, update, base, plan.head),
    ...relisting,
  ];
  const checked = checkedActions(life, plan);
  const parts = [...added, ...rewritten].flatMap(({ items }) => items.slice(1));
  const old = rewritten.map((row) => row.old);
  const partsGone = partPrefixes(life, old);
  const isListed = isBeginning || parts.length > 0 || partsGone.length > 0;
  const isLarge = 1 + puts.length + checked.length + Number(isListed) > actionsAtOnce;

  const pending = isLarge ? pendingItems(life, plan) : [];
  const isPending = pending.length > 0;
  const head = isPending ? { ...plan.head, pending: token } : plan.head;
  const staged = [...parts, ...pending, ...added.flatMap(({ lines }) => life.idItems(lines))];
  const pendingPrefixes = isPending ? [life.pendingKey(token).sort] : [];
  const stagedPrefixes = [...pendingPrefixes, ...partPrefixes(life, [...added, ...rewritten])];
  // A beginning may be removed with its whole life. Of another update, items of ids alone need not be: they lead nowhere.
  const announced = isBeginning && staged.length > 0 ? [life.prefix] : stagedPrefixes;
  const workItem = (stage: WorkItem["stage"], prefixes: readonly string[]): WorkItem | undefined =>
    prefixes.length === 0
      ? undefined
      : { token: isBeginning ? "" : token, stage, prefixes, updatedAt: head.updatedAt };
  const work = workItem("staging", announced);
  const next = workItem(isPending ? "applying" : "ending", [...pendingPrefixes, ...partsGone]);
  const actions = [
    putHead(table, memoryId, expected, head),
    ...puts,
    ...(isLarge ? [] : checked),
    ...listingActions(life, token, work, next === undefined ? listing : life.workItem(next)),
  ];
  checkSize(actions);
  const unchecked = isLarge ? [...old, ...unchanged] : [];
  return { unchecked, work, staged, actions, head, next, idsGone: idsGone(life, plan) };
}

/** The data that stands beside the head, if the update says another, or that it stands in the head. */
function dataActions({ table, dataKey }: Life, { data }: FoldedUpdate, base: Head, head: Head): Action[] {
  const { dataCount } = head;
  if (dataCount === base.dataCount) return [];
  const item = { ...dataKey, values: { count: dataCount, data } };
  return [dataCount === undefined ? table.delete(item) : table.put(item)];
}

/**
 * What changes in the listings, in the transaction of the head: so they are always as the head says. `listing`: where a
 * memory that begins is listed among all.
 */
function listed(life: Life, base: Head, head: Head): { listing?: TableItem; actions: Action[] } {
  // Neither a beginning nor another owner leaves the noted activity as it is.
  if (head.activeAt === base.activeAt) return { actions: [] };
  const { table } = life;
  const puts = (items: readonly TableItem[]): Action[] => items.map((item) => table.put(item));
  const deletes = (items: readonly TableItem[]): Action[] => items.map((item) => table.delete(item));
  const moved = [...deletes(life.newestItems(base)), ...puts(life.newestItems(head))];
  const [listing, ...owned] = life.listItems(head);
  const isBeginning = base.count === 0;
  if (isBeginning) return { listing, actions: [...puts(owned), ...moved] };
  if (head.owner === base.owner) return { actions: moved };
  const [, ...before] = life.listItems(base);
  return { actions: [...puts([listing, ...owned]), ...deletes(before), ...moved] };
}

/** A query may have met another update half done: the rows that it read must be those that are there. */
function checkedActions(life: Life, { rewritten, unchanged }: UpdatePlan): Action[] {
  const { table } = life;
  const asRead = ({ count }: MessageRow): Condition => ({
    expression: "#c = :count",
    values: { ":count": count },
  });
  return [
    ...rewritten.map(({ lines, items: [item], old }) =>
      lines.length === 0 ? table.delete(item, asRead(old)) : table.put(item, asRead(old)),
    ),
    ...unchanged.map((row) => table.check(life.rowKey(row.key), asRead(row))),
  ];
}

/** Where the memory is listed, or what is left to do takes its place; what was announced is no longer. */
function listingActions(
  life: Life,
  token: string,
  work: WorkItem | undefined,
  listed: TableItem | undefined,
): Action[] {
  const { table } = life;
  // Unless a sweep gave it up, if it was announced.
  const isMine = work && isStaging;
  if (listed !== undefined) return [table.put(listed, isMine)];
  return work === undefined ? [] : [table.delete(life.listKey(token), isMine)];
}

function checkSize(actions: readonly Action[]): void {
  if (actions.length <= actionsAtOnce) return;
  throw invalidOption(
    `The update changes ${actions.length} items of the table at once, and ${actionsAtOnce} fit into a transaction: supersede or bring back messages in fewer thousands of the history at a time`,
  );
}

/** The rewritten rows, where they wait until they may take their places. */
function pendingItems(life: Life, { token, rewritten }: UpdatePlan): TableItem[] {
  return rewritten.map(({ key, items: [{ values }] }) => ({ ...life.pendingKey(token, key), values }));
}

/** What the parts of these rows begin with, those of them that have any. */
function partPrefixes(life: Life, rows: readonly MessageRow[]): string[] {
  return rows.flatMap(({ key, token }) => (token === undefined ? [] : [life.partKey(key, token).sort]));
}

/** The items that lead from ids to messages that the update removes. */
function idsGone(life: Life, { added, rewritten, nowhere }: UpdatePlan): TableItem[] {
  const kept = new Set([...added, ...rewritten].flatMap(({ lines }) => lines.map(({ seq }) => seq)));
  const before = [...rewritten.flatMap(({ old }) => old.lines), ...nowhere];
  return life.idItems(before.filter(({ seq }) => !kept.has(seq)));
}
