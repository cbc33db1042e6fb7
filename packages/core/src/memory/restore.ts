import { quoted, TurnkeepError, unsupportedError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { type Item, seqsOf } from "../steps/item.ts";
import { isPrompt } from "../steps/kinds.ts";
import type { Step } from "../steps/step.ts";
import { withInstructions } from "../window/groups.ts";
import type { Attempt } from "./attempt.ts";
import { notFound } from "./change.ts";
import { evict } from "./evict.ts";
import type { StoredRecord } from "./outcomes.ts";
import { coveredBy, readBegun, refill, stepsWith } from "./refill.ts";
import { allRecords, findRecord, scanRecords } from "./stored-records.ts";
import { Ancestry, branchOf, nodeOf, type TreeNode } from "./tree.ts";

/** Makes the branch of a superseded message the conversation, in place of what is there. */
export async function restoreTo<M>(attempt: Attempt<M>, messageId: string): Promise<void> {
  const { draft, loaded, settings } = attempt;
  if (!settings.store.capabilities.history) throw unsupportedError("The store", "restore()");
  if (draft.live.byId.has(messageId)) return;
  const record = await findRecord(messageId, attempt);
  if (record === undefined) throw notFound(messageId, settings, "there is no such message");
  if (record.state !== "superseded") return;
  const target = nodeOf(record, settings, loaded.lost);
  if (target === undefined) throw isPromptError(messageId, settings);
  const { fork, nodes } = await findFork(target, attempt);
  const branch = branchOf(target.seq, fork, nodes);
  if (isReplaced(target, branch)) throw isPromptError(messageId, settings);
  const back = switchTo(branch, fork, nodes, attempt);
  draft.restore(await withBegun(back, fork, attempt));
  evict(attempt);
  if (!draft.evicts) await refill(attempt, coveredBy(draft.live), fork + 1);
}

/** The last message that a branch has with the conversation as it is, 0 if there is none, and all that was said after it. */
async function findFork<M>(
  target: TreeNode<M>,
  attempt: Attempt<M>,
): Promise<{ readonly fork: number; readonly nodes: readonly TreeNode<M>[] }> {
  const { settings, loaded } = attempt;
  for (let fork = await lastKept(target, attempt); ; ) {
    const records = await allRecords({ after: fork }, attempt);
    const nodes = records.flatMap((record) => nodeOf(record, settings, loaded.lost) ?? []);
    const kept = nodes.filter(({ state }) => state !== "superseded");
    const earlier = kept.find(({ parent }) => parent < fork);
    if (earlier === undefined) return { fork, nodes };
    // What a `set` has left in history stands between what it put in place of the live messages and what that follows.
    fork = earlier.parent;
  }
}

/** The last message before this one on its branch that is live or evicted; 0: none. */
async function lastKept<M>(target: TreeNode<M>, attempt: Attempt<M>): Promise<number> {
  const { settings, loaded } = attempt;
  const ancestry = new Ancestry(target.parent, settings, loaded.lost);
  let last = 0;
  const find = (record: StoredRecord): boolean => {
    const before = ancestry.find(record);
    if (before === undefined || before.state === "superseded") return false;
    last = before.seq;
    return true;
  };
  if (ancestry.next === 0) return last;
  const query = { before: ancestry.next + 1, order: "descending", limit: 100 } as const;
  await scanRecords(query, attempt, (page) => page.some(find) || ancestry.next === 0);
  return last;
}

/**
 * Supersedes what was said after the fork and is not of the branch. What is of it is part of the history again; comes to
 * what of that can be read.
 */
function switchTo<M>(
  branch: readonly TreeNode<M>[],
  fork: number,
  nodes: readonly TreeNode<M>[],
  { draft, settings }: Attempt<M>,
): Item<M>[] {
  const ofBranch = new Set(branch.map(({ seq }) => seq));
  const isOther = ({ seq }: { readonly seq: number }): boolean => seq > fork && !ofBranch.has(seq);
  const leaves = (item: Item<M>): boolean =>
    item.meta.derived === undefined
      ? isOther(item) && !settings.isFront(item)
      : item.meta.derived.through > fork;
  draft.leave(draft.live.items.filter(leaves), "superseded");
  const evicted = nodes.filter((node) => node.state === "evicted" && isOther(node));
  draft.parts.move(
    evicted.map(({ item }) => item),
    "superseded",
    "evicted",
  );
  const back = branch.filter((node) => node.state === "superseded" && !isReplaced(node, branch));
  const items = back.map(({ item }) => item);
  draft.parts.move(items, "evicted", "superseded");
  draft.continueAfter(branch.at(-1)?.seq ?? fork);
  return items.filter(({ error }) => error === undefined);
}

/**
 * The messages with the rest of the step or turn that begins before them and has left memory. Without those of a step
 * that begins in what a derived message stands for.
 */
async function withBegun<M>(back: readonly Item<M>[], fork: number, attempt: Attempt<M>): Promise<Item<M>[]> {
  const { live } = attempt.draft;
  const isLive = live.items.some(({ seq }) => seq === fork);
  const begun = isLive ? [] : await readBegun(attempt, fork);
  if (begun.length === 0 || back.length === 0) return [...back];
  const whole = live.copy([...begun, ...back]);
  if (fork <= coveredBy(live)) {
    const stays = seqsOf(stepsWith(begun, whole));
    return back.filter(({ seq }) => !stays.has(seq));
  }
  const { steps } = whole;
  const { unit } = attempt.settings.window;
  const isBack = seqsOf(back);
  let first = steps.findIndex(({ items }) => items.some(({ seq }) => isBack.has(seq)));
  while (first > 0 && !unit.beginsGroup(steps[first] as Step<M>)) first--;
  const returning = steps.slice(withInstructions(steps, first)).flatMap(({ items }) => items);
  return returning.filter(({ id }) => !live.byId.has(id));
}

/** Whether it is a prompt whose place another of the branch took. */
function isReplaced<M>(node: TreeNode<M>, branch: readonly TreeNode<M>[]): boolean {
  return isPrompt(node.item) && node !== branch.findLast(({ item }) => isPrompt(item));
}

function isPromptError<M>(messageId: string, { memoryId }: MemorySettings<M>): TurnkeepError {
  return new TurnkeepError(
    "INVALID_OPTION",
    `Memory ${quoted(memoryId)}, message ${quoted(messageId)}: it is a system message whose place another took, and stands ` +
      "on no branch. To have it again, pass it to instruct.",
    { details: { memoryId, messageIds: [messageId] } },
  );
}
