import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { Step } from "../steps/step.ts";
import type { MessageState } from "../store-contract.ts";
import type { Attempt } from "./attempt.ts";
import { findKept, type Kept, scanKept } from "./kept.ts";

/** The rest of a step is rarely far: a page should hold it, and not much more. */
const pageSize = 200;

/** What no window decides. */
type Removal<M> = Omit<Attempt<M>, "limits">;

/** Deletes a message and the rest of its step, wherever they are kept; answers their ids. */
export async function removeStep<M>(removal: Removal<M>, messageId: string): Promise<string[]> {
  const { draft, policy } = removal;
  const live = draft.live.byId.get(messageId);
  const kept = live === undefined ? await findKept(messageId, removal) : undefined;
  if (live === undefined && kept === undefined) return [];
  const target = live ?? readItem(kept as Kept, policy.reader);
  const states: MessageState[] = kept?.state === "superseded" ? ["superseded"] : ["live", "evicted"];
  const step = await findStep(removal, target, states);
  draft.move(
    step.map((item) => item.seq),
    "removed",
  );
  draft.leave(
    step.flatMap((item) => draft.live.byId.get(item.id) ?? []),
    "removed",
  );
  return step.map((item) => item.id);
}

/** All messages of a step, live or not: its calls before, its results after, as far as they have to be looked for. */
async function findStep<M>(removal: Removal<M>, target: Item<M>, states: MessageState[]): Promise<Item<M>[]> {
  const { policy } = removal;
  const { live } = removal.draft;
  const own = new Set(target.calls.map((toolCall) => toolCall.id));
  const asked = target.results.filter((result) => !own.has(result.id)).map((result) => result.id);
  const responds = target.approvals.some((approval) => approval.kind === "response");
  if (own.size === 0 && asked.length === 0 && !responds) return [target];
  if (!policy.store.capabilities.history)
    return live.byId.has(target.id) ? live.stepOf(target).items : [target];

  const items: Item<M>[] = [target];
  const takeIn = (page: readonly Kept[]): void => {
    items.push(...page.map((kept) => readItem(kept, policy.reader)));
  };
  const stepOfTarget = (): Step<M> =>
    new Live(
      [...items].sort((a, b) => a.seq - b.seq),
      () => false,
    ).stepOf(target);
  if (asked.length > 0 || responds) {
    const earlier = { before: target.seq, order: "descending" as const, states, limit: pageSize };
    await scanKept(earlier, removal, (page) => {
      takeIn(page);
      const step = stepOfTarget();
      return asked.every((id) => step.calls.has(id)) && (!responds || step.approvals.size > 0);
    });
  }
  await scanKept({ after: target.seq, states, limit: pageSize }, removal, (page) => {
    takeIn(page);
    return [...stepOfTarget().calls.values()].every((toolCall) => toolCall.answered);
  });
  return stepOfTarget().items;
}
