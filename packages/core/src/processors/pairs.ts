import type { MessageFormat } from "../message-format.ts";

/** A call, by the message that makes it. */
export interface PairedCall {
  readonly name: string;
  /** Its message's index. */
  readonly at: number;
  answered: boolean;
}

/** What a message has to do with calls. */
export interface Pairs {
  /** The calls that it makes, by id. */
  readonly calls: ReadonlyMap<string, PairedCall>;
  /** The calls that its results answer, by id; `undefined` for a result without a call. */
  readonly results: ReadonlyMap<string, PairedCall | undefined>;
  /** The calls that its responses to approval requests are about, by the request's id. */
  readonly approvals: ReadonlyMap<string, PairedCall | undefined>;
}

/**
 * Pairs each result with its call: the newest before it that has its id and waits for an answer, else the newest at all,
 * since some providers use an id again; for a result that came too early the first call behind it. By message index;
 * messages that have nothing to do with calls are not in it.
 */
export function pairsOf<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlyMap<number, Pairs> {
  const pairs = new Map<number, Pairs>();
  const asked = new Map<string, PairedCall[]>();
  const requests = new Map<string, PairedCall>();
  const early = new Map<string, Map<string, PairedCall | undefined>[]>();
  for (const [at, message] of messages.entries()) {
    const calls = new Map<string, PairedCall>();
    for (const { id, name } of format.toolCalls(message)) {
      const call = { name, at, answered: early.has(id) };
      calls.set(id, call);
      listIn(asked, id).push(call);
      for (const results of early.get(id) ?? []) results.set(id, call);
      early.delete(id);
    }
    const results = new Map<string, PairedCall | undefined>();
    for (const { id } of format.toolResults(message)) {
      const all = asked.get(id);
      const call = all?.findLast(({ answered }) => !answered) ?? all?.at(-1);
      results.set(id, call);
      if (call !== undefined) call.answered = true;
      else listIn(early, id).push(results);
    }
    const approvals = new Map<string, PairedCall | undefined>();
    for (const approval of format.approvals(message)) {
      const { approvalId } = approval;
      const call = approval.kind === "request" ? asked.get(approval.toolCallId)?.at(-1) : undefined;
      if (call !== undefined) requests.set(approvalId, call);
      if (approval.kind === "response") approvals.set(approvalId, requests.get(approvalId));
    }
    if (calls.size + results.size + approvals.size > 0) pairs.set(at, { calls, results, approvals });
  }
  return pairs;
}

function listIn<T>(lists: Map<string, T[]>, id: string): T[] {
  const list = lists.get(id) ?? [];
  lists.set(id, list);
  return list;
}
