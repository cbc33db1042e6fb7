import type { HistoryPage, HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import type { Draft } from "./draft.ts";

/** A message as the store keeps it, live or not, or as it will once the draft is committed. */
export type StoredRecord = StoredMessage & { readonly state: MessageState };

/** What becomes of a message. */
export type Outcome = StoredMessage & { readonly state: MessageState | "removed" };

/** By `seq`, what a draft has made of messages so far; the store does not know of it yet. */
export type Outcomes = ReadonlyMap<number, Outcome>;

const none: Outcomes = new Map();

export function outcomesIn<M>(draft: Draft<M> | undefined): Outcomes {
  return draft?.changed === true ? draft.parts.outcomes() : none;
}

/** Those of them that a query asks for. */
export function matching(
  outcomes: Outcomes,
  { states, ids, after = 0, before = Number.POSITIVE_INFINITY }: HistoryQuery,
): StoredRecord[] {
  const isAsked = (outcome: Outcome): outcome is StoredRecord =>
    outcome.state !== "removed" &&
    (states?.includes(outcome.state) ?? true) &&
    (ids?.includes(outcome.id) ?? true);
  return [...outcomes.values()].filter(isAsked).filter(({ seq }) => seq > after && seq < before);
}

/** The page with what the draft makes of the messages between its bounds. */
export function withOutcomes(
  { messages, hasMore }: HistoryPage,
  outcomes: Outcomes,
  query: HistoryQuery,
): readonly StoredRecord[] {
  if (outcomes.size === 0) return messages;
  const isDescending = query.order === "descending";
  const last = hasMore ? messages.at(-1)?.seq : undefined;
  const end = isDescending ? { after: (last ?? 1) - 1 } : { before: (last ?? 0) + 1 };
  const bounds = last === undefined ? query : { ...query, ...end };
  const all = messages.filter(({ seq }) => !outcomes.has(seq));
  all.push(...matching(outcomes, bounds));
  return all.sort((a, b) => (isDescending ? b.seq - a.seq : a.seq - b.seq));
}
