import type { ToolCallRef } from "../message-format.ts";
import { ById } from "./by-id.ts";

/** A call by its id, with the name of its tool where results say theirs. */
export type AskedCall<Call> = readonly [callId: string, call: Call, toolName?: string | undefined];

/**
 * Which result answers which call, while messages come. A result bears the id of its call, and several calls may bear the
 * same: some providers number the calls of each answer anew. Beside the id, the name of the tool tells calls apart, where
 * it is given with both.
 *
 * - A result answers a call of its id that waits for one: of those of its tool, if there are any, else of all. Of these it
 *   answers the first of the newest answer.
 * - Where none waits, it is one more result of the newest such call.
 * - Where none was made, it is an orphan, until the first call of its id comes.
 *
 * A call is whatever tells yours apart: an index, a name, an object; one that is given with its tool is asked once. For
 * authors of formats, profiles and loops.
 *
 * @example
 * ```ts
 * import { CallsById } from "@turnkeep/core/processors";
 *
 * const calls = new CallsById<string>();
 * calls.askTogether([["1", "weather in Oslo"], ["1", "weather in Rome"]]);
 * calls.answer("1"); // "weather in Oslo"
 * calls.ask("1", "time in Oslo");
 * calls.answer("1"); // "time in Oslo"
 * calls.answer("1"); // "weather in Rome"
 * calls.answer("2"); // undefined
 * calls.askTogether([["3", "map of Oslo", "map"], ["3", "news of Oslo", "news"]]);
 * calls.answer("3", "news"); // "news of Oslo"
 * ```
 */
export class CallsById<Call> {
  readonly #made: ById<Call> = new ById();
  /** The next one to be answered last. */
  readonly #waiting: ById<Call> = new ById();
  /** Of these, those whose tool is known, by {@link keyOf} it. */
  readonly #ofTool: ById<Call> = new ById();
  readonly #toolKeys: Map<Call, string> = new Map();

  /** Adds a call that waits for its result. A value that stands for several calls is added once for each. */
  ask(callId: string, call: Call): void {
    this.#made.add(callId, call);
    this.#waiting.push(callId, call);
  }

  /** Adds the calls of one answer, in the order in which it makes them. */
  askTogether(calls: readonly AskedCall<Call>[]): void {
    for (const [callId, call] of calls) this.#made.add(callId, call);
    for (let index = calls.length - 1; index >= 0; index--) {
      const [callId, call, toolName] = calls[index] as AskedCall<Call>;
      this.#waiting.push(callId, call);
      if (toolName === undefined) continue;
      const key = keyOf(callId, toolName);
      this.#toolKeys.set(call, key);
      this.#ofTool.push(key, call);
    }
  }

  /** The call that a result belongs to; `undefined` for an orphan. */
  callOf(callId: string): Call | undefined {
    return this.#waiting.newest(callId) ?? this.#made.newest(callId);
  }

  /** Gives a result to the call that waits for it; `undefined` if none does. */
  take(callId: string, toolName?: string): Call | undefined {
    const own = toolName === undefined ? undefined : this.#ofTool.newest(keyOf(callId, toolName));
    if (own !== undefined) {
      this.settle(callId, own);
      return own;
    }
    const call = this.#waiting.pop(callId);
    if (call !== undefined) this.#leaveTool(call);
    return call;
  }

  /** Gives a result to its call, which waits no longer; `undefined` for an orphan. */
  answer(callId: string, toolName?: string): Call | undefined {
    return this.take(callId, toolName) ?? this.#made.newest(callId);
  }

  /** The calls that wait. */
  waiting(): Iterable<Call> {
    return this.#waiting.values();
  }

  /** A call waits no longer, whoever answered it. */
  settle(callId: string, call: Call): void {
    this.#waiting.delete(callId, call);
    this.#leaveTool(call);
  }

  /** Removes a call, whether it waits or not. */
  forget(callId: string, call: Call): void {
    this.#made.delete(callId, call);
    this.settle(callId, call);
  }

  #leaveTool(call: Call): void {
    const key = this.#toolKeys.get(call);
    if (key === undefined) return;
    this.#toolKeys.delete(call);
    this.#ofTool.delete(key, call);
  }
}

/** Whatever the two texts are, no other two make the same. */
function keyOf(callId: string, toolName: string): string {
  return `${callId.length} ${callId}${toolName}`;
}

interface WithId {
  readonly id: string;
}

/** How often each id is there: several calls, and several results, may bear the same. */
export class IdCounts {
  readonly #counts: Map<string, number>;

  constructor(counts: Iterable<readonly [id: string, count: number]> = []) {
    this.#counts = new Map(counts);
  }

  add(refs: Iterable<WithId>, times = 1): void {
    for (const { id } of refs) this.#counts.set(id, (this.#counts.get(id) ?? 0) + times);
  }

  /** Takes the id out, once; answers whether it was there. */
  take(id: string): boolean {
    const count = this.#counts.get(id) ?? 0;
    if (count > 0) this.#counts.set(id, count - 1);
    return count > 0;
  }
}

/**
 * The calls that none of these results answers. Of calls that share an id, the first are answered.
 *
 * @example
 * ```ts
 * import { openCalls } from "@turnkeep/core/processors";
 *
 * openCalls([{ id: "1" }, { id: "2" }], [{ id: "1" }]); // [{ id: "2" }]
 * ```
 */
export function openCalls<Call extends { readonly id: string }>(
  calls: readonly Call[],
  results: Iterable<{ readonly id: string }>,
): Call[] {
  const answers = new IdCounts();
  answers.add(results);
  return calls.filter(({ id }) => !answers.take(id));
}

/**
 * What is known of one answer's calls, however many messages it and their results stand in. A result is late if it came
 * after the model had gone on without it: it belongs to its call, but does not answer it, since the model was shown that
 * the call was interrupted.
 */
export interface Tally {
  /** Its calls by id. */
  calls: ReadonlyMap<string, CallCount>;
  /** By call id, how many results belong to it, whether it makes such a call or not. */
  answers: ReadonlyMap<string, ResultCount>;
  /** How many of its calls no result answers in time, apart from those that the provider runs itself. */
  unanswered: number;
}

interface CallCount {
  made: number;
  /** Whether the provider runs one of them itself. */
  providerExecuted: boolean;
}

interface ResultCount {
  results: number;
  inTime: number;
}

// Shared, because most answers have none, and a memory may hold many.
export const noCalls: Tally["calls"] = new Map();
export const noAnswers: Tally["answers"] = new Map();

/** Counts calls of an answer. Costs what is added, never what is there. */
export function tallyCalls(tally: Tally, added: readonly ToolCallRef[]): void {
  if (added.length === 0) return;
  const calls = grown(tally.calls);
  for (const { id, providerExecuted } of added) {
    const count = calls.get(id) ?? { made: 0, providerExecuted: false };
    count.made++;
    count.providerExecuted ||= providerExecuted === true;
    calls.set(id, count);
    const isAnswered = count.made <= (tally.answers.get(id)?.inTime ?? 0);
    if (providerExecuted !== true && !isAnswered) tally.unanswered++;
  }
  tally.calls = calls;
}

/** Counts results that belong to an answer; `lateIds` are the ids of those that came too late. */
export function tallyResults(tally: Tally, added: readonly WithId[], lateIds: readonly string[] = []): void {
  if (added.length === 0) return;
  const late = new Set(lateIds);
  const answers = grown(tally.answers);
  for (const { id } of added) {
    const count = answers.get(id) ?? { results: 0, inTime: 0 };
    count.results++;
    if (!late.has(id)) {
      const calls = tally.calls.get(id);
      if (calls?.providerExecuted === false && count.inTime < calls.made) tally.unanswered--;
      count.inTime++;
    }
    answers.set(id, count);
  }
  tally.answers = answers;
}

/** Whether an answer makes such a call to which no result belongs yet, not even a late one. */
export function isOpen({ calls, answers }: Tally, callId: string): boolean {
  return (answers.get(callId)?.results ?? 0) < (calls.get(callId)?.made ?? 0);
}

/** Whether an answer makes calls to which no result belongs yet. */
export function hasOpenCalls(tally: Tally): boolean {
  for (const callId of tally.calls.keys()) if (isOpen(tally, callId)) return true;
  return false;
}

/** A map that may change in place of a shared empty one. */
export function grown<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return map.size === 0 ? new Map() : (map as Map<string, T>);
}
