import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { Step } from "../steps/step.ts";
import type { MessageState } from "../store-contract.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Loaded } from "./draft.ts";
import { findKept, type Kept, scanKept } from "./kept.ts";
import type { Policy } from "./policy.ts";

/** The rest of a step is rarely far: a page should hold it, and not much more. */
const pageSize = 200;

/** Deletes a message and the rest of its step, wherever they are kept; answers their ids. */
export async function removeStep<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  messageId: string,
  policy: Policy<M>,
  call: Call,
): Promise<string[]> {
  const live = draft.live.byId.get(messageId);
  const kept = live === undefined ? await findKept(messageId, loaded, policy, call) : undefined;
  if (live === undefined && kept === undefined) return [];
  const target = live ?? readItem(kept as Kept, policy.reader);
  const states: MessageState[] = kept?.state === "superseded" ? ["superseded"] : ["live", "evicted"];
  const step = await findStep(target, states, draft.live, policy, call);
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
async function findStep<M>(
  target: Item<M>,
  states: MessageState[],
  live: Live<M>,
  policy: Policy<M>,
  call: Call,
): Promise<Item<M>[]> {
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
    await scanKept(earlier, policy, call, (page) => {
      takeIn(page);
      const step = stepOfTarget();
      return asked.every((id) => step.calls.has(id)) && (!responds || step.approvals.size > 0);
    });
  }
  await scanKept({ after: target.seq, states, limit: pageSize }, policy, call, (page) => {
    takeIn(page);
    return [...stepOfTarget().calls.values()].every((toolCall) => toolCall.answered);
  });
  return stepOfTarget().items;
}
