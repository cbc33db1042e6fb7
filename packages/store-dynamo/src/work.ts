import {
  type Head,
  headKey,
  type Life,
  listEntries,
  partitionOf,
  pendingKey,
  rowKey,
  rowNumberOf,
  type Work,
  workEntry,
  workKey,
  workOf,
} from "./items.ts";
import { type Action, type Condition, inTurn, type Table } from "./table.ts";

/** Nobody has given it up. */
export const isStaging: Condition = { expression: "stage = :staging", values: { ":staging": "staging" } };

/** Removes what was staged and is not committed, and sees to it that it never will be. `false`: it is. */
export async function abandon(table: Table, work: Work): Promise<boolean> {
  const ending = { ...work, stage: "ending" } as const;
  if ((await table.write([table.put(workEntry(ending), isStaging)])) !== undefined) return false;
  await finish(table, ending);
  return true;
}

/** Does what a work item is about, removes what is left over, then the work item. By several at once, at any time. */
export async function finish(table: Table, work: Work): Promise<void> {
  const { memoryId, token, stage, prefixes } = work;
  const partition = partitionOf(memoryId);
  if (stage === "applying") {
    const pending = await table.all(partition, { from: pendingKey(work, token).sort });
    await inTurn(pending, async (entry) => {
      // Unless this row or a later one has been there. One without messages is to be removed.
      const isOlder = { expression: "#c < :count", values: { ":count": entry.values.count } };
      const row = { ...rowKey(work, rowNumberOf(entry)), values: entry.values };
      await table.write(
        [row.values.rows === "" ? table.delete(row, isOlder) : table.put(row, isOlder)],
        true,
      );
    });
    const isPending = { expression: "pending = :token", values: { ":token": token } };
    await table.write([table.unset(headKey(memoryId), "pending", isPending)], true);
  }
  for (const from of prefixes) {
    await table.deleteAll(await table.all(partition, { from, keysOnly: true }));
  }
  await table.write([table.delete(workKey(work))]);
}

/** Does what the update before has left to do. Nothing may be changed that it changes until then. */
export async function catchUp(
  table: Table,
  memoryId: string,
  { life, pending }: Pick<Head, "life" | "pending">,
): Promise<void> {
  if (pending === undefined) return;
  const entry = await table.get(workKey({ memoryId, life, token: pending }));
  if (entry !== undefined) await finish(table, workOf(entry));
}

/**
 * Ends a life: from then on the memory is absent, and what it had goes. `false`: the action, which is about the head, was
 * refused.
 */
export async function endLife(
  table: Table,
  { memoryId, life, owner }: Life & Pick<Head, "owner">,
  action: Action,
): Promise<boolean> {
  const about = { memoryId, life, token: "", prefixes: [`${life}/`] };
  const work: Work = { ...about, stage: "ending", updatedAt: Date.now() };
  const entries = listEntries(work, owner).map((entry) => table.delete(entry));
  if ((await table.write([action, ...entries, table.put(workEntry(work))], true)) !== undefined) return false;
  await finish(table, work);
  return true;
}

/** The action with which {@link endLife} ends a life that has run out. */
export function expire(table: Table, { memoryId, life }: Life): Action {
  const values = { ":life": life, ":now": Date.now() };
  return table.delete(headKey(memoryId), { expression: "life = :life AND endsAt <= :now", values });
}
