import type { MessageFormat } from "@turnkeep/core";
import { answersCalls } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { PartsAlone } from "../parts-alone.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** Each call stands in a message of its own, with its result right behind it. */
export type CallsApart = Rule<"calls-apart">;

export const callsApart: RuleKind<CallsApart> = {
  fields: {},
  repair<M>(messages: readonly M[], format: MessageFormat<M>) {
    const apart: M[] = [];
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index] as M;
      const answers = answersBehind(messages, index, format);
      const ids = idsToPart(message, answers, format);
      if (ids.length === 0) apart.push(message);
      else {
        for (const part of inHalves(message, answers, ids, format)) apart.push(part);
        index += answers.length;
      }
    }
    return apart;
  },
  breaks: (messages, format) =>
    where(
      messages,
      (message, index) => idsToPart(message, answersBehind(messages, index, format), format).length > 0,
      "a message makes several calls",
    ),
};

/** The messages right behind one that makes calls which hold results, and nothing else. */
function answersBehind<M>(messages: readonly M[], index: number, format: MessageFormat<M>): readonly M[] {
  const caller = messages[index] as M;
  if (format.toolCalls(caller).length < 2) return [];
  const isAnswer = (message: M): boolean => format.role(message) === "tool" && answersCalls(message, format);
  const behind = messages.slice(index + 1, index + 1 + format.toolCalls(caller).length);
  const end = behind.findIndex((message) => !isAnswer(message));
  return end < 0 ? behind : behind.slice(0, end);
}

/** The ids of the calls to part; none where they cannot be told apart, or more than results would have to be parted. */
function idsToPart<M>(caller: M, answers: readonly M[], format: MessageFormat<M>): readonly string[] {
  if (answers.length === 0 || [caller, ...answers].some((message) => format.approvals(message).length > 0))
    return [];
  const ids = format.toolCalls(caller).flatMap(({ id, providerExecuted }) => (providerExecuted ? [] : [id]));
  const answered = answers.flatMap((message) => format.toolResults(message)).map(({ id }) => id);
  const isPaired = new Set(ids).size === ids.length && ids.toSorted().join() === answered.toSorted().join();
  return isPaired && ids.length > 1 ? ids : [];
}

/** Each call with its result, by halves of halves: to take each call out of all the others would be work that grows as their square. */
function inHalves<M>(
  caller: M,
  answers: readonly M[],
  ids: readonly string[],
  format: MessageFormat<M>,
): M[] {
  if (ids.length === 1) return [caller, ...answers];
  const middle = ids.length >> 1;
  const [first, rest] = [ids.slice(0, middle), ids.slice(middle)];
  const isRest = new Set(rest);
  const part = (isOther: (id: string) => boolean): M[] =>
    answers.flatMap((message) => format.without(message, { toolResults: isOther }) ?? []);
  const visit = methodOf(format, "visit");
  // The first call keeps what was said before it.
  const asked = format.without(caller, { toolCalls: (id) => isRest.has(id) }) as M;
  const askedThen = visit(caller, new PartsAlone({ calls: (id) => isRest.has(id) })) as M;
  return [
    ...inHalves(
      asked,
      part((id) => isRest.has(id)),
      first,
      format,
    ),
    ...inHalves(
      askedThen,
      part((id) => !isRest.has(id)),
      rest,
      format,
    ),
  ];
}
