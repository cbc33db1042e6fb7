import { TurnkeepError } from "../errors.ts";
import type { Item } from "../steps/item.ts";
import type { Limits } from "../window/policy.ts";
import { addAll, evict, findIds, idConflict, isEqual } from "./add.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Loaded, Prepared } from "./draft.ts";
import { findKept } from "./kept.ts";
import type { Policy } from "./policy.ts";

/** Adds under that id, or replaces the live message that has it. */
export async function putMessage<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  message: Prepared<M>,
  policy: Policy<M>,
  limits: Limits,
  call: Call,
): Promise<void> {
  const item = draft.live.byId.get(message.id);
  if (item === undefined) {
    const taken = await findIds([message], loaded, policy, call);
    if (taken.size > 0) throw idConflict(message.id, policy, "a place in history: it has left memory");
    addAll(draft, [message], policy, limits);
    return;
  }
  if ((item.role === "system") !== (message.facts.role === "system")) {
    throw new TurnkeepError(
      "INVALID_MESSAGE",
      `Message ${JSON.stringify(message.id)} has the role ${item.role}; put cannot make it ${message.facts.role}. ` +
        "Remove it and add the other.",
      { details: { memoryId: policy.memoryId, messageIds: [message.id] } },
    );
  }
  if (isEqual(item, message, policy)) return;
  draft.replace(item, message);
  evict(draft, policy, limits);
}

/** Replaces everything: what was there becomes superseded. */
export async function replaceAll<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  messages: readonly Prepared<M>[],
  policy: Policy<M>,
  limits: Limits,
  call: Call,
): Promise<string[]> {
  const taken = await findIds(messages, loaded, policy, call);
  const seen = new Set(taken.keys());
  for (const { id } of messages) {
    if (seen.has(id)) throw idConflict(id, policy, "that id");
    seen.add(id);
  }
  draft.leave([...draft.live.items], "superseded");
  draft.raiseEpoch();
  if (policy.window.unit !== "message") return addAll(draft, messages, policy, limits);
  // LangChain4j's set keeps order and system messages as they are given.
  const ids = messages.map((message) => draft.append(message).id);
  evict(draft, policy, limits);
  return ids;
}

/** Puts a derived message in place of everything up to `through`. */
export async function compactThrough<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  through: string,
  replacement: Prepared<M>,
  policy: Policy<M>,
  limits: Limits,
  call: Call,
): Promise<string> {
  const last = await findThrough(draft, loaded, through, policy, call);
  const derived = draft.live.items.filter((item) => item.meta.derived !== undefined);
  for (const item of derived) {
    if ((item.meta.derived?.through ?? 0) > last.seq) {
      throw new TurnkeepError(
        "VERSION_CONFLICT",
        `Message ${JSON.stringify(through)} is already covered by a derived message that reaches further. ` +
          "Call messages() to see the new state, then decide again.",
        { details: { memoryId: policy.memoryId, messageIds: [through] } },
      );
    }
  }
  const covered = draft.live.steps
    .filter((step) => (step.items[0] as Item<M>).seq <= last.seq)
    .flatMap((step) => step.items)
    .filter((item) => item.role !== "system" && item.meta.derived === undefined)
    .filter((item) => !draft.live.stepOf(item).items.some((member) => member.pinned));
  const item = putInPlace(draft, { derived, covered, through: last.seq }, replacement);
  evict(draft, policy, limits);
  return item.id;
}

/** What a derived message stands for. */
export interface Covered<M> {
  /** The derived messages that it replaces. */
  readonly derived: readonly Item<M>[];
  readonly covered: readonly Item<M>[];
  /** It stands for what is covered up to this `seq`. */
  readonly through: number;
}

/** Puts a derived message in place of live ones: after the system message, in one change. */
export function putInPlace<M>(
  draft: Draft<M>,
  { derived, covered, through }: Covered<M>,
  replacement: Prepared<M>,
): Item<M> {
  draft.leave(derived, "removed");
  draft.leave(covered, "evicted");
  const item = draft.append(replacement, { derived: { through } });
  draft.raiseEpoch();
  return item;
}

/** Errors: `INVALID_MESSAGE` for a message that cannot stand in place of others. */
export function checkReplacement<M>({ facts }: Prepared<M>, policy: Policy<M>): void {
  const { role, calls, results } = facts;
  const allowed = policy.window.unit === "turn" ? ["user"] : ["user", "assistant"];
  if (allowed.includes(role) && calls.length === 0 && results.length === 0) return;
  throw new TurnkeepError(
    "INVALID_MESSAGE",
    `A replacement must be a message of role ${allowed.join(" or ")} without tool calls or results; this one has the role ${role}.`,
  );
}

async function findThrough<M>(
  draft: Draft<M>,
  loaded: Loaded<M>,
  through: string,
  policy: Policy<M>,
  call: Call,
): Promise<{ readonly seq: number }> {
  const live = draft.live.byId.get(through);
  if (live !== undefined && live.role !== "system" && live.meta.derived === undefined) return live;
  const evicted = live === undefined ? await findKept(through, loaded, policy, call, ["evicted"]) : undefined;
  if (evicted !== undefined) return evicted;
  throw notFound(
    through,
    policy,
    live === undefined ? "There is no such message in memory" : "It cannot be replaced",
  );
}

export function notFound<M>(messageId: string, policy: Policy<M>, what: string): TurnkeepError {
  return new TurnkeepError(
    "INVALID_OPTION",
    `Memory ${JSON.stringify(policy.memoryId)}, message ${JSON.stringify(messageId)}: ${what}. ` +
      "history() lists the ids and states of all messages.",
    { details: { memoryId: policy.memoryId, messageIds: [messageId] } },
  );
}
