import type { CallPlace, MessageFormat, ToolCallRef } from "@turnkeep/core";
import { append } from "@turnkeep/core/format-kit";
import type { AskedCall } from "@turnkeep/core/processors";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { callsOfProvider } from "../about.ts";
import { pattern } from "../fields.ts";
import { methodOf } from "../method-of.ts";
import { PairsByMessage } from "../pairs-by-message.ts";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/** A call's id matches the pattern and is used once: in a request, or in one answer alone. */
export type CallIds = Rule<
  "call-ids",
  { readonly pattern: RegExp; readonly unique?: "request" | "answer" | undefined }
>;

export const callIds: RuleKind<CallIds> = {
  fields: { pattern, unique: optional(oneOf("request", "answer")) },
  repair: withNewIds,
  breaks: wrongIds,
};

/**
 * The messages with ids that the provider takes, call and results alike. An id that it takes stays; any other becomes
 * nine letters and digits that depend on the id and, where ids must be unique, on how many calls bore the same there.
 * Where calls of one answer bear the same, a result is that of its tool's, and the nth of one tool that of the nth.
 */
function withNewIds<M>(messages: readonly M[], format: MessageFormat<M>, rule: CallIds): M[] {
  const ids = messages.flatMap((message) => format.toolCalls(message).map(({ id }) => id));
  const taken = new Set(ids.filter((id) => rule.pattern.test(id)));
  if (taken.size === ids.length) return [...messages];
  const newIdOf = newIds(rule, taken);
  /** By id, the new one of the newest call: for what belongs to none of those that wait, or does not say what it is. */
  const newest = new Map<string, string>();
  const pairs = new PairsByMessage<M, { readonly newId: string }>(format);
  return messages.map((message) => {
    if (format.role(message) !== "assistant") newIdOf.endAnswer();
    const calls = format.toolCalls(message);
    const asked: AskedCall<{ readonly newId: string }>[] = [];
    const ofCalls: NewIds = new Map();
    for (const call of calls) {
      const newId = newIdOf.next(call);
      newest.set(call.id, newId);
      if (call.providerExecuted === true) continue;
      asked.push([call.id, { newId }, call.name]);
      append(ofCalls, call.id, newId);
    }
    const answered = pairs.enter(message, asked);
    const results = format.toolResults(message);
    const ofResults: NewIds = new Map();
    for (const [at, { id }] of results.entries()) {
      const newId = answered[at]?.newId;
      if (newId !== undefined) append(ofResults, id, newId);
    }
    const isRenamed = ({ id }: { id: string }): boolean => (newest.get(id) ?? id) !== id;
    if (!calls.some(isRenamed) && !results.some(isRenamed)) return message;
    // The first of an id is taken first.
    const unused: Readonly<Record<CallPlace, NewIds>> = {
      call: backwards(ofCalls),
      result: backwards(ofResults),
      request: backwards(ofCalls),
    };
    const next = (id: string, of?: CallPlace): string | undefined => of && unused[of].get(id)?.pop();
    return methodOf(format, "renameCalls")(message, (id, of) => next(id, of) ?? newest.get(id) ?? id);
  });
}

/** By id, the new ids of the calls that bear it, or of what belongs to them, in their order. */
type NewIds = Map<string, string[]>;

function backwards(newIds: NewIds): NewIds {
  return new Map([...newIds].map(([id, all]) => [id, all.toReversed()]));
}

/** What gives each call of a list, in order, the id that it is shown under; adds those that it makes to the `taken`. */
function newIds({ pattern, unique }: CallIds, taken: Set<string>) {
  let timesSeen = new Map<string, number>();
  const madeOf = new Map<string, string>();
  return {
    next({ id, providerExecuted }: ToolCallRef): string {
      const times = unique === undefined ? 0 : (timesSeen.get(id) ?? 0);
      timesSeen.set(id, times + 1);
      const stays = providerExecuted === true || (pattern.test(id) && times === 0);
      const key = `${times}:${id}`;
      if (!stays && !madeOf.has(key)) madeOf.set(key, made(key, taken));
      return madeOf.get(key) ?? id;
    },
    endAnswer(): void {
      if (unique === "answer" && timesSeen.size > 0) timesSeen = new Map();
    },
  };
}

/**
 * The ids of the calls, by those that they bear in a view. Of what is `asked` for, also by those that they bore while other
 * calls of their id, which have left since, stood before them.
 */
export function storedCallIds<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: CallIds | undefined,
  asked: readonly string[] = [],
): ReadonlyMap<string, string> {
  if (rule === undefined) return new Map();
  const idsOf = (message: M): string[] => format.toolCalls(message).map(({ id }) => id);
  const stored = messages.flatMap(idsOf);
  const shown = withNewIds(messages, format, rule).flatMap(idsOf);
  const ids = new Map(shown.map((id, index) => [id, stored[index] ?? id]));
  if (rule.unique === "request") addEarlier(ids, stored, asked);
  return ids;
}

/** How many ids are made to find what is asked for: in a long memory, fewer for each of its calls. */
const maxMade = 10_000;

function addEarlier(ids: Map<string, string>, stored: readonly string[], asked: readonly string[]): void {
  const missing = new Set(asked.filter((id) => id.length === length && !ids.has(id)));
  const callIds = new Set(stored);
  for (const callId of callIds) {
    for (let times = 1; times * callIds.size <= maxMade && missing.size > 0; times++) {
      const id = made(`${times}:${callId}`, new Set());
      if (missing.delete(id)) ids.set(id, callId);
    }
  }
}

function made(key: string, taken: Set<string>): string {
  for (let attempt = 0; ; attempt++) {
    const id = hash(`${attempt}:${key}`);
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

const length = 9;

/** Nine letters and digits: two FNV-1a hashes of 32 bits (Fowler, Noll, Vo), the second over the text reversed. */
function hash(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    forward = Math.imul(forward ^ text.charCodeAt(index), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - index), 0x01000193);
  }
  // 21 bits of one and 32 of the other are what a number holds exactly.
  const number = ((forward >>> 11) * 2 ** 32 + (backward >>> 0)) % 36 ** length;
  return number.toString(36).padStart(length, "0");
}

function* wrongIds<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern, unique }: CallIds,
): Generator<Finding, undefined> {
  let seen = new Set<string>();
  const providers = callsOfProvider(messages, format);
  for (const [index, message] of messages.entries()) {
    if (unique === "answer" && format.role(message) !== "assistant") seen = new Set();
    const made = madeUpIds(message, format);
    for (const { id, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted === true || made.has(id)) continue;
      if (!pattern.test(id)) yield [index, "a call's id has not the form that the provider takes"];
      if (unique !== undefined && seen.has(id)) yield [index, "a call bears the id of an earlier one"];
      seen.add(id);
    }
    for (const { id } of format.toolResults(message)) {
      const isWrong = !pattern.test(id) && !providers.has(id) && !made.has(id);
      if (isWrong) yield [index, "a result's id has not the form that the provider takes"];
    }
  }
}

const none: ReadonlySet<never> = new Set();

/** The ids of what has none on the wire: where its format pairs calls and results by name, it has none to rename. */
function madeUpIds<M>(message: M, format: MessageFormat<M>): ReadonlySet<string> {
  const idsOf = (one: M): string[] =>
    [...format.toolCalls(one), ...format.toolResults(one)].map(({ id }) => id);
  const ids = idsOf(message);
  if (ids.length === 0 || format.renameCalls === undefined) return none;
  const given = new Set<string>();
  format.renameCalls(message, (id) => {
    given.add(id);
    return id;
  });
  return new Set(ids.filter((id) => !given.has(id)));
}
