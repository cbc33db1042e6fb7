import { type ChatMemory, isTurnkeepError, type MessageFormat, TurnkeepError } from "@turnkeep/core";
import type { ModelUsage, ToolDefinition } from "./model.ts";

/**
 * What the model is sent: the memory's view, with the results of an answer in the order of its calls.
 * Errors: `WINDOW_OVERFLOW`, also if the window left nothing.
 */
export async function requestMessages<M>(memory: ChatMemory<M>, signal: AbortSignal): Promise<M[]> {
  const messages = inCallOrder(await memory.messages({ signal }), memory.format);
  if (messages.length === 0) {
    throw new TurnkeepError(
      "WINDOW_OVERFLOW",
      `The window of memory ${JSON.stringify(memory.id)} left no message to send: the newest step is larger than it. ` +
        "Raise the limit, or shorten what the tools answer.",
      { details: { memoryId: memory.id } },
    );
  }
  return messages;
}

/**
 * Results are stored as their tools are done. Some providers pair them with calls by position, so they go out in the
 * order of the calls. Pure: the same messages come out the same each time.
 */
export function inCallOrder<M>(messages: readonly M[], format: MessageFormat<M>): M[] {
  const ordered = [...messages];
  for (let at = 0; at < ordered.length; at++) {
    const calls = format.toolCalls(ordered[at] as M);
    if (calls.length < 2) continue;
    let end = at + 1;
    while (end < ordered.length && format.role(ordered[end] as M) === "tool") end++;
    const places = new Map(calls.map(({ id }, place) => [id, place] as const).reverse());
    const answers = ordered.slice(at + 1, end);
    ordered.splice(at + 1, answers.length, ...sorted(answers, places, format));
  }
  return ordered;
}

function sorted<M>(
  answers: readonly M[],
  places: ReadonlyMap<string, number>,
  format: MessageFormat<M>,
): M[] {
  const placesOf = (message: M): number[] =>
    format.toolResults(message).map(({ id }) => places.get(id) ?? places.size);
  const placeOf = (message: M): number => placesOf(message)[0] ?? places.size;
  const byPlace = (a: M, b: M): number => placeOf(a) - placeOf(b);
  const [only] = answers;
  const isJoined = answers.length === 1 && only !== undefined && format.approvals(only).length === 0;
  const inOne = isJoined ? placesOf(only) : [];
  if (!isJoined || inOne.every((place, index) => index === 0 || place >= (inOne[index - 1] ?? 0))) {
    return [...answers].sort(byPlace);
  }
  // A profile has made one message of them: taken apart, and put together again in order.
  const apart = format
    .toolResults(only)
    .flatMap(({ id }) => format.without(only, { toolResults: (other) => other !== id }) ?? []);
  const joined: M[] = [];
  for (const next of apart.sort(byPlace)) {
    const last = joined.pop();
    const both = last === undefined ? undefined : format.joined?.(last, next);
    if (last !== undefined && both === undefined) joined.push(last);
    joined.push(both ?? next);
  }
  return joined;
}

/** About what JSON has of English: a guess at definitions, used where it hardly matters. */
const charactersPerToken = 4;

/**
 * Corrects the window's counter by what the provider counted for the view that was just sent. Tool definitions are no
 * part of that view: a short one that was sent with them would have messages taken for several times what they are. So
 * where the model does not say what they took, that is guessed, and used if it is a tenth of the whole at most.
 */
export async function calibrate<M>(
  memory: ChatMemory<M>,
  usage: ModelUsage | undefined,
  definitions: readonly ToolDefinition[],
): Promise<void> {
  let { inputTokens, otherTokens } = usage ?? {};
  if (inputTokens === undefined || !Number.isSafeInteger(inputTokens) || inputTokens < 1) return;
  if (otherTokens === undefined && definitions.length > 0) {
    otherTokens = Math.ceil(JSON.stringify(definitions).length / charactersPerToken);
    if (otherTokens > inputTokens / 10) return;
  }
  try {
    await memory.calibrate({ inputTokens, otherTokens });
  } catch (error) {
    // A memory without a counter has nothing to correct, and does not say before whether it has one.
    if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
  }
}
