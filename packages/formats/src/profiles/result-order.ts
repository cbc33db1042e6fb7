import type { MessageFormat } from "@turnkeep/core";

/** The messages with tool results in the order of the calls that they answer; approvals among them keep their places. */
export function withOrderedResults<M>(messages: readonly M[], format: MessageFormat<M>): M[] {
  const ordered: M[] = [];
  let calls: string[] = [];
  let answers: M[] = [];
  const finish = (): void => {
    ordered.push(...inOrderOf(calls, answers, format));
    if (answers.length > 0) calls = [];
    answers = [];
  };
  for (const message of messages) {
    if (format.role(message) === "tool") {
      answers.push(message);
      continue;
    }
    finish();
    calls.push(...format.toolCalls(message).map(({ id }) => id));
    ordered.push(message);
  }
  finish();
  return ordered;
}

function inOrderOf<M>(
  calls: readonly string[],
  answers: readonly M[],
  format: MessageFormat<M>,
): readonly M[] {
  const placeOf = (answer: M): number => {
    const [result] = format.toolResults(answer);
    const place = result === undefined ? -1 : calls.indexOf(result.id);
    return place < 0 ? calls.length : place;
  };
  const apart = answers.flatMap((answer) => oneResultEach(answer, format));
  const isResult = (answer: M): boolean => format.toolResults(answer).length > 0;
  const results = apart.filter(isResult);
  const sorted = results.toSorted((a, b) => placeOf(a) - placeOf(b));
  if (sorted.every((result, index) => result === results[index])) return answers;
  return apart.map((answer) => (isResult(answer) ? (sorted.shift() as M) : answer));
}

/** Messages of one result each; what else the message holds, approvals, stands before them. */
function oneResultEach<M>(message: M, format: MessageFormat<M>): readonly M[] {
  const { length } = format.toolResults(message);
  if (length === 0) return [message];
  const rest = format.without(message, { toolResults: () => true });
  if (length === 1 && rest === undefined) return [message];
  const results = Array.from({ length }, (_, kept) => {
    let index = 0;
    return format.without(message, { toolResults: () => index++ !== kept, approvals: () => true });
  });
  return [rest, ...results].filter((part): part is M => part !== undefined);
}
