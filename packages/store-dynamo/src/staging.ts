/**
 * Work items: what an update staged before its transaction, what is left to do after it, and what goes with a memory.
 * Whoever finds one may do what it says, at any time.
 */
import { conflictError, isTurnkeepError, show, TurnkeepError } from "@turnkeep/core/store-kit";
import { type Head, headOf, isPresent } from "./head.ts";
import {
  activityOf,
  headKey,
  Life,
  type Listed,
  listedAs,
  listPartition,
  newestPartition,
  numberOf,
  shards,
  type WorkItem,
  workOf,
} from "./items.ts";
import { storeName } from "./refusals.ts";
import { type Action, type Attributes, type Condition, inTurn, type Table, type TableItem } from "./table.ts";

/** A staged update older than this is no longer being written. */
const isLeftBehindAfterMs = 60 * 60 * 1000;

/** How many items a sweep reads at a time. */
const sweptAtOnce = 100;

/** True while no sweep has given up the staged update. */
export const isStaging: Condition = { expression: "stage = :staging", values: { ":staging": "staging" } };

/** Records, with other actions, that a work item's target is to be removed, and removes it. `false`: refused. */
async function end(
  life: Life,
  work: Omit<WorkItem, "stage">,
  others: readonly Action[],
  condition?: Condition,
): Promise<boolean> {
  const ending: WorkItem = { ...work, stage: "ending" };
  const actions = [...others, life.table.put(life.workItem(ending), condition)];
  if ((await life.table.write(actions, true)) !== undefined) return false;
  await finish(life, ending).catch((cause: unknown) => {
    if (isTurnkeepError(cause, "ABORTED")) throw cause;
    throw new TurnkeepError(
      "STORE_UNAVAILABLE",
      `${storeName}: what was removed of memory ${show(life.memoryId)} no longer shows, but a part of it is still stored; see the cause. Repeat the call, or call sweep()`,
      { cause },
    );
  });
  return true;
}

/** Removes what a refused update staged, including anything written after a sweep gave it up. */
export async function discard(life: Life, work: WorkItem | undefined): Promise<void> {
  const { table, memoryId, name } = life;
  if (work !== undefined) await end(life, work, []);
  // Items of ids go with the memory, and these may have come too late for that.
  const head = await table.get(headKey(memoryId));
  if (head?.values.life !== name) await table.deleteAll(await life.all(life.prefix, { keysOnly: true }));
}

/** Does what a work item says, then removes it. Several processes may do so, at any time. */
export async function finish(life: Life, { token, stage, prefixes }: WorkItem): Promise<void> {
  const { table } = life;
  if (stage === "applying") await putInPlace(life, token);
  await inTurn(prefixes, async (from) => table.deleteAll(await life.all(from, { keysOnly: true })));
  await table.write([table.delete(life.listKey(token))]);
}

/** Puts an update's rows in their places, then the head names them no longer. */
async function putInPlace(life: Life, token: string): Promise<void> {
  const { table, memoryId } = life;
  const pending = await life.all(life.pendingKey(token).sort);
  await inTurn(pending, async ({ sort, values }) => {
    // Replaces only an older row: this one, or a later one, may be there already. A row without messages is removed.
    const isOlder = { expression: "#c < :count", values: { ":count": values.count } };
    const row = { ...life.rowKey(numberOf(sort)), values };
    await table.write([values.rows === "" ? table.delete(row, isOlder) : table.put(row, isOlder)], true);
  });
  const isPending = { expression: "pending = :token", values: { ":token": token } };
  await table.write([table.unset(headKey(memoryId), "pending", isPending)], true);
}

/** Finishes what the last update left to do. Until then, nothing that it changes may be changed again. */
export async function catchUp(life: Life, { pending }: Head): Promise<void> {
  if (pending === undefined) return;
  // A plain read might see it as it was before the transaction that wrote the head.
  const [values] = await life.table.settled([life.listKey(pending)]);
  if (values !== undefined) await finish(life, workOf(pending, values));
}

/** Deletes a memory; with `expected`, only at that version; with `ofLife`, only that life. */
export async function removeMemory(
  table: Table,
  memoryId: string,
  expected: string | undefined,
  ofLife?: string,
): Promise<void> {
  const item = await table.get(headKey(memoryId));
  if (item === undefined) return finishDeletes(table, memoryId);
  const { life: name, version, endsAt } = item.values as Partial<Head>;
  if (ofLife !== undefined && name !== ofLife) return;
  if (expected !== undefined && version !== expected) {
    if (isPresent({ endsAt })) throw conflictError(memoryId, expected);
    return;
  }
  // By its life: a delete that is late, or sent twice, must not hit the next memory of that id. A damaged head may
  // have lost its life; a later sweep then finds what belongs to it in the listing.
  const isDamaged = typeof name !== "string";
  const isThis = isDamaged ? "NOT attribute_type(life, :life)" : "life = :life";
  const isAsExpected = expected === undefined ? "" : " AND version = :expected";
  const values = { ":life": isDamaged ? "S" : name, ":expected": expected };
  const life = new Life(table, memoryId, isDamaged ? "" : name);
  const condition = { expression: isThis + isAsExpected, values };
  const deletesHead = table.delete(item, stillListedAs(item.values, condition));
  const isDeleted = await endLife(life, item.values, deletesHead);
  // Somebody wrote, or deleted it, in between.
  if (!isDeleted)
    return removeMemory(table, memoryId, expected, expected === undefined ? life.name : undefined);
}

/**
 * The condition, and that the head still names the places in the listings that go with it: the owner never changes unless
 * the noted activity does.
 */
function stillListedAs({ activeAt }: Attributes, { expression, values }: Condition): Condition {
  const isNoted = typeof activeAt === "number";
  const isSame = isNoted ? "activeAt = :activeAt" : "NOT attribute_type(activeAt, :activeAt)";
  return {
    expression: `${expression} AND ${isSame}`,
    values: { ...values, ":activeAt": isNoted ? activeAt : "N" },
  };
}

/**
 * Ends a life: from then on the memory is absent, and its data is removed. `false`: the action, which concerns the
 * head, was refused.
 */
export function endLife(life: Life, listed: Listed, action: Action): Promise<boolean> {
  const [, ...owned] = [...life.listItems(listed), ...life.newestItems(listed)];
  const work = { token: "", prefixes: [life.prefix], updatedAt: Date.now() };
  return end(life, work, [action, ...owned.map((item) => life.table.delete(item))]);
}

/** Removes what interrupted deletes, and expiry, left behind of a memory that is not there. */
export async function finishDeletes(table: Table, memoryId: string): Promise<void> {
  const { partition } = new Life(table, memoryId, "").listKey();
  for await (const { items } of table.query(partition, { from: `${memoryId}/` })) {
    // The key of another memory may begin so, too.
    const own = items.filter(({ sort }) => listedAs(table, sort).life.memoryId === memoryId);
    await inTurn(own, (item) => settle(table, item));
  }
}

/** Removes what interrupted updates and deletes left behind, and expired memories. Returns how many it found. */
export async function sweep(table: Table): Promise<number> {
  let removed = 0;
  for (let shard = 0; shard < shards; shard++) {
    const partition = listPartition(undefined, shard);
    for await (const { items } of table.query(partition, { limit: sweptAtOnce })) {
      const settled = await inTurn(items, (item) => settle(table, item));
      removed += settled.filter(Boolean).length;
    }
    for await (const { items } of table.query(newestPartition(partition), { limit: sweptAtOnce })) {
      await settleNewest(table, items);
    }
  }
  return removed;
}

/** Removes entries by activity whose lives are over, but whose heads, which know of them, were not there any more. */
async function settleNewest(table: Table, items: readonly TableItem[]): Promise<void> {
  const entries = items.map(({ sort, values }) => ({ ...activityOf(table, sort), owner: values.owner }));
  const ids = new Set(entries.map(({ life }) => life.memoryId));
  const found = await table.getAll([...ids].map(headKey));
  const heads = new Map(found.map(({ partition, values }) => [partition, values]));
  await inTurn(entries, async ({ life, ...listed }) => {
    const head = heads.get(headKey(life.memoryId).partition);
    if (head?.life === life.name || isUnreadable(head)) return;
    const gone = life.newestItems(listed as Listed).map((item) => table.delete(item));
    await table.write([checkOther(life), ...gone], true);
  });
}

async function settle(table: Table, { sort, values }: TableItem): Promise<boolean> {
  const { life, token } = listedAs(table, sort);
  if (values.stage === undefined) return settleListed(life, values);
  const work = workOf(token, values);
  if (work.stage === "staging") {
    // Once given up, it can no longer be committed; unless it has been already.
    return work.updatedAt <= Date.now() - isLeftBehindAfterMs && end(life, work, [], isStaging);
  }
  await finish(life, work);
  return true;
}

async function settleListed(life: Life, listed: Listed): Promise<boolean> {
  const { table, name } = life;
  const key = headKey(life.memoryId);
  const found = (await table.get(key))?.values;
  if (found?.life === name) {
    const isOver = {
      expression: "life = :life AND endsAt <= :now",
      values: { ":life": name, ":now": Date.now() },
    };
    const isPast = !isPresent(found as Pick<Head, "endsAt">);
    return isPast && endLife(life, found, table.delete(key, stillListedAs(found, isOver)));
  }
  // The table's own expiry removed its head.
  return !isUnreadable(found) && endLife(life, listed, checkOther(life));
}

/** A head that cannot be read is left, with what belongs to it, so that it can be restored. */
function isUnreadable(head: Attributes | undefined): boolean {
  return head !== undefined && headOf(head) === undefined;
}

/** Checks that the head is gone, or of another life. */
function checkOther({ table, memoryId, name }: Life): Action {
  const expression = "attribute_not_exists(life) OR life <> :life";
  return table.check(headKey(memoryId), { expression, values: { ":life": name } });
}
