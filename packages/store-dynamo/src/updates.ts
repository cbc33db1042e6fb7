/**
 * An update, from the head that it expects to the head that it leaves: planned, written, and planned anew where others
 * got in between. Readers see all of it or nothing.
 */
import { randomBytes } from "node:crypto";
import { conflictError, type FoldedUpdate, isTurnkeepError, storeError } from "@turnkeep/core/store-kit";
import type { Refusal } from "./client.ts";
import { type Head, type Heads, headOfNone, isPresent, type Timing } from "./head.ts";
import { allLive, type LostIds, readMemory } from "./history.ts";
import { Life } from "./items.ts";
import { planUpdate, type UpdatePlan } from "./plans.ts";
import { storeName } from "./refusals.ts";
import { catchUp, discard, finish } from "./staging.ts";
import type { Table } from "./table.ts";
import { writesOf } from "./writes.ts";

/** How often an update is planned whose rows a sweep or a running transaction changes. */
const plansOfOneUpdate = 3;

/**
 * What became of one attempt. `"outdated"`: the head is as expected, but what was read or staged has changed, so a new
 * plan may succeed. `"torn"`: a message is not where the head says, and not known to be lost. `"refused"`: the head
 * tells why, unless the update itself is wrong.
 */
type CommitOutcome =
  | { readonly is: "done"; readonly head: Head }
  | { readonly is: "outdated" | "torn" }
  | { readonly is: "refused"; readonly refusal?: Refusal | undefined; readonly invalid?: unknown };

/** Applies an update whole, or throws and has changed nothing, or does not know: `STORE_UNAVAILABLE`. */
export async function commitUpdate(
  table: Table,
  heads: Heads,
  memoryId: string,
  update: FoldedUpdate,
  timing: Timing,
): Promise<void> {
  const { expected, version } = update;
  let base = expected === null ? headOfNone : await heads.at(table, memoryId, expected);
  let lost: LostIds = new Map();
  let invalid: unknown;
  for (let plans = 1; plans <= plansOfOneUpdate && base?.version === (expected ?? ""); plans++) {
    const outcome: CommitOutcome = await attempt(table, memoryId, update, base, lost, timing);
    if (outcome.is === "done") return heads.remember(memoryId, outcome.head);
    invalid = undefined;
    if (outcome.is === "outdated" && plans < plansOfOneUpdate) continue;
    if (outcome.is === "torn") {
      ({ head: base, lost } = await readMemory(table, heads, memoryId, allLive));
      continue;
    }
    const present = await heads.read(table, memoryId);
    if (outcome.is === "refused") {
      invalid = outcome.invalid;
      throwIfOpen(outcome.refusal, update, base, present);
    }
    // It may be another life, which began with the same version.
    const isSameLife = present?.life === base.life;
    base = present;
    if (isSameLife) break;
  }
  if (base?.version === version) return;
  if (invalid !== undefined && (base?.version ?? null) === expected) throw invalid;
  throw conflictError(memoryId, expected);
}

/** After a lost answer only the head can tell whether the update was in place. */
function throwIfOpen(
  refusal: Refusal | undefined,
  { version }: FoldedUpdate,
  base: Head,
  present: Head | undefined,
): void {
  if (refusal?.isOpen !== true || present?.version === version) return;
  // The next update after the expected version was another's: then this one was never in place.
  const isNever = present?.life === base.life && present.count === base.count + 1;
  if (!isNever) throw storeError(storeName, refusal.cause);
}

async function attempt(
  table: Table,
  memoryId: string,
  update: FoldedUpdate,
  base: Head,
  lost: LostIds,
  timing: Timing,
): Promise<CommitOutcome> {
  if (!isPresent(base)) return { is: "refused" };
  // A sweep that gave up an earlier attempt to begin may still be removing that life: each attempt has its own.
  const name = update.expected === null ? randomBytes(12).toString("base64url") : base.life;
  const life = new Life(table, memoryId, name);
  try {
    await catchUp(life, base);
    const plan = await planUpdate(life, update, base, lost, timing);
    return plan === "torn" ? { is: plan } : await carryOut(life, update, base, plan);
  } catch (error) {
    if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
    return { is: "refused", invalid: error };
  }
}

async function carryOut(
  life: Life,
  update: FoldedUpdate,
  base: Head,
  plan: UpdatePlan,
): Promise<CommitOutcome> {
  const { table } = life;
  const { work, staged, actions, head, next, idsGone, unchecked } = writesOf(life, update, base, plan);
  // A query may see a half-applied transaction, so rows that the one below does not check are compared here.
  const settled = await table.settled(unchecked.map(({ key }) => life.rowKey(key)));
  if (unchecked.some(({ count }, index) => settled[index]?.count !== count)) return { is: "refused" };
  if (work !== undefined) await table.write([table.put(life.workItem(work))]);
  await table.putAll(staged);
  // The memory may have expired during staging.
  const isOver = !isPresent(base);
  const refusal = isOver ? undefined : await table.write(actions);
  if (isOver || refusal !== undefined) {
    // What may be in place after all is left to a sweep; so is what cannot be removed now, and the update is refused all the same.
    if (staged.length > 0 && refusal?.isOpen !== true) await discard(life, work).catch(() => {});
    const [ofHead, ...others] = refusal?.codes ?? [];
    const isHeadAsExpected = ofHead === "None" && others.includes("ConditionalCheckFailed");
    return isHeadAsExpected ? { is: "outdated" } : { is: "refused", refusal };
  }
  // The update is in place; what is left to do does not show, and the next update, a sweep or the memory's end does it.
  const isFinished = await (next &&
    finish(life, next).then(
      () => true,
      () => false,
    ));
  await table.deleteAll(idsGone).catch(() => {});
  return { is: "done", head: isFinished ? { ...head, pending: undefined } : head };
}
