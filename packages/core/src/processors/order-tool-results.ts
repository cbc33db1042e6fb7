import { checkList, joinedWhere } from "../format/join-neighbours.ts";
import type { MessageFormat } from "../message-format.ts";
import { elsewhere } from "../option-checks.ts";
import { type Fields, takeMembers } from "../option-fields.ts";
import { CallsById } from "../steps/pairing.ts";
import { pushAll } from "../steps/push-all.ts";

type OrderOptions<M> = {
  /** How to read the messages: `modelMessageFormat` for those of the AI SDK. */
  readonly format: MessageFormat<M>;
};

const fields = { format: elsewhere } satisfies Fields<OrderOptions<unknown>>;

/**
 * Sorts the tool results of each answer into the order of its calls. Parallel tools finish in any order, and if a call
 * has no id, Gemini pairs the results of a tool with its calls by position.
 *
 * Approvals among the results keep their places. A message that holds several results out of order is split and, if the
 * format can, joined with its neighbours again. Messages that are in order are returned as they are. The result depends
 * on the messages only; none of them is changed.
 *
 * Errors: `INVALID_OPTION` for anything but an array, and if no format is given.
 *
 * @example
 * ```ts
 * import { assistant, modelMessageFormat, toolCall, toolResult } from "@turnkeep/core";
 * import { orderToolResults } from "@turnkeep/core/processors";
 *
 * const [oslo, rome] = [toolResult("1", "weather", "4 °C"), toolResult("2", "weather", "18 °C")];
 * const calls = assistant([
 *   { type: "tool-call", toolCallId: "1", toolName: "weather", input: { city: "Oslo" } },
 *   { type: "tool-call", toolCallId: "2", toolName: "weather", input: { city: "Rome" } },
 * ]);
 * orderToolResults([calls, rome, oslo], { format: modelMessageFormat }); // [calls, oslo, rome]
 * ```
 */
export function orderToolResults<M>(messages: readonly M[], options: OrderOptions<M>): M[] {
  checkList("orderToolResults", messages, options);
  const { format } = takeMembers("orderToolResults' second argument", fields, options);
  const ordered: M[] = [];
  let calls: string[] = [];
  let answers: M[] = [];
  const endAnswers = (): void => {
    if (answers.length === 0) return;
    pushAll(ordered, inOrderOf(calls, answers, format));
    calls = [];
    answers = [];
  };
  for (const message of messages) {
    if (format.role(message) === "tool") {
      answers.push(message);
      continue;
    }
    endAnswers();
    // In some formats a user's message holds the results beside what the user says.
    if (format.role(message) === "user" && format.toolResults(message).length > 0) calls = [];
    for (const { id } of format.toolCalls(message)) calls.push(id);
    ordered.push(message);
  }
  endAnswers();
  return ordered;
}

function inOrderOf<M>(
  calls: readonly string[],
  answers: readonly M[],
  format: MessageFormat<M>,
): readonly M[] {
  const places = placesOf(calls, answers, format).flat();
  if (places.every((place, index) => index === 0 || place >= (places[index - 1] as number))) return answers;
  const apart = answers.flatMap((answer) => oneResultEach(answer, format));
  const placed = placesOf(calls, apart, format).map(([place], index) => ({
    place,
    message: apart[index] as M,
  }));
  const results = placed.filter(isResult).sort((a, b) => a.place - b.place);
  let next = 0;
  const sorted = placed.map((one) => (isResult(one) ? (results[next++] as Placed<M>) : one).message);
  return apart.length > answers.length ? joinedWhere(sorted, format) : sorted;
}

interface Placed<M> {
  readonly message: M;
  /** The place of the call that it answers. */
  readonly place: number;
}

function isResult<M>(one: { readonly message: M; readonly place: number | undefined }): one is Placed<M> {
  return one.place !== undefined;
}

/** For each message the places of the calls that its results answer; those that answer none go last. */
function placesOf<M>(
  callIds: readonly string[],
  answers: readonly M[],
  format: MessageFormat<M>,
): number[][] {
  const places = new CallsById<number>();
  places.askTogether(callIds.map((callId, place) => [callId, place]));
  return answers.map((answer) =>
    format.toolResults(answer).map(({ id }) => places.answer(id) ?? callIds.length),
  );
}

/** Splits a message into one message per result; anything else in it (approvals) goes before them. */
function oneResultEach<M>(message: M, format: MessageFormat<M>): readonly M[] {
  const ids = format.toolResults(message).map(({ id }) => id);
  const { length } = ids;
  if (length === 0) return [message];
  const rest = format.without(message, { toolResults: () => true });
  if (length === 1 && rest === undefined) return [message];
  const isShared = new Set(ids).size < length;
  /** Halves of halves: to take each result out of the whole would cost the square of their number. */
  const split = (part: M | undefined, held: readonly string[]): M[] => {
    if (part === undefined || held.length === 1) return part === undefined ? [] : [part];
    const middle = held.length >> 1;
    return [held.slice(0, middle), held.slice(middle)].flatMap((kept, half) => {
      const own = new Set(kept);
      let index = 0;
      // Asked by id, in their order only where results share one.
      const isLeftOut = (id: string): boolean =>
        isShared ? index++ < middle !== (half === 0) : !own.has(id);
      return split(format.without(part, { toolResults: isLeftOut }), kept);
    });
  };
  const results = split(format.without(message, { approvals: () => true }), ids);
  return rest === undefined ? results : [rest, ...results];
}
