import type { HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import type { Limits } from "../window/policy.ts";
import { notFound } from "./change.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Loaded } from "./draft.ts";
import { type Item, readItem } from "./item.ts";
import { Live } from "./live.ts";
import { frontRule, type Policy } from "./policy.ts";
import { refill } from "./refill.ts";

type Kept = StoredMessage & { state: MessageState };

/** That message and all later ones become superseded; what the window now has room for comes back. */
export async function rewindTo<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  messageId: string,
  policy: Policy<M>,
  limits: Limits,
  call: Call,
): Promise<void> {
  const live = draft.live.byId.get(messageId);
  const target = live ?? (await findKept(messageId, loaded, policy, call));
  if (target === undefined) throw notFound(messageId, policy, "there is no such message");
  if ("state" in target && target.state !== "evicted") {
    throw notFound(messageId, policy, "it was superseded before, so there is nothing to go back to");
  }
  const derived = live?.meta.derived;
  // What is later than a derived message begins behind all that it stands for.
  const from = derived === undefined ? target.seq : derived.through + 1;
  const isFront = frontRule(policy.window, policy.systemFirst);
  const isLater = (item: Item<M>): boolean =>
    item === live || (!isFront(item) && (item.meta.derived?.through ?? item.seq) >= from);
  draft.leave(draft.live.items.filter(isLater), "superseded");
  const later = await collect({ after: from - 1, states: ["evicted"] }, policy, call);
  draft.move(
    later.map((message) => message.seq),
    "superseded",
  );
  const covered =
    draft.live.items.find((item) => item.meta.derived !== undefined)?.meta.derived?.through ?? 0;
  await refill(draft, { after: covered, before: from }, policy, limits, call);
}

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
  const members = step.map((item) => ({ item, live: draft.live.byId.get(item.id) }));
  draft.move(
    members.filter((member) => member.live === undefined).map((member) => member.item.seq),
    "removed",
  );
  draft.leave(
    members.flatMap((member) => member.live ?? []),
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
  const stepOfTarget = (): ReturnType<Live<M>["stepOf"]> =>
    new Live(
      [...items].sort((a, b) => a.seq - b.seq),
      () => false,
    ).stepOf(target);
  if (asked.length > 0 || responds) {
    await scan({ before: target.seq, order: "descending", states }, policy, call, (page) => {
      items.push(...page);
      const step = stepOfTarget();
      return asked.every((id) => step.calls.has(id)) && (!responds || step.approvals.size > 0);
    });
  }
  await scan({ after: target.seq, states }, policy, call, (page) => {
    items.push(...page);
    return [...stepOfTarget().calls.values()].every((toolCall) => toolCall.answered);
  });
  return stepOfTarget().items;
}

async function findKept<M>(
  id: string,
  loaded: Loaded<M>,
  policy: Policy<M>,
  call: Call,
): Promise<Kept | undefined> {
  if (loaded.version === null || !policy.store.capabilities.history) return undefined;
  const page = await policy.store.getHistory(policy.memoryId, { ids: [id] }, { signal: call.signal });
  return page.messages[0];
}

async function collect<M>(query: HistoryQuery, policy: Policy<M>, call: Call): Promise<Item<M>[]> {
  const items: Item<M>[] = [];
  if (!policy.store.capabilities.history) return items;
  await scan(query, policy, call, (page) => {
    items.push(...page);
    return false;
  });
  return items;
}

/** Reads page after page until `done` says so. */
async function scan<M>(
  query: HistoryQuery,
  policy: Policy<M>,
  call: Call,
  done: (page: Item<M>[]) => boolean,
): Promise<void> {
  const { store, memoryId, reader } = policy;
  for (let next = query; ; ) {
    const page = await store.getHistory(memoryId, { ...next, limit: 200 }, { signal: call.signal });
    if (done(page.messages.map((stored) => readItem(stored, reader))) || !page.hasMore) return;
    const last = page.messages.at(-1)?.seq;
    next = next.order === "descending" ? { ...next, before: last } : { ...next, after: last };
  }
}
