import { type ChatMemory, type Entry, isTurnkeepError, TurnkeepError } from "@turnkeep/core";
import { orderToolResults } from "@turnkeep/core/processors";
import type { ModelUsage, ToolDefinition } from "./model.ts";

/**
 * What the model is sent: the memory's view, with the results of an answer, which are stored as their tools are done, in
 * the order of its calls. A `question` that nothing of the turn is stored behind must be among them: another process that
 * ran the turn and gave it up may have taken it back. Errors: `WINDOW_OVERFLOW`, also if the window left nothing.
 */
export async function requestMessages<M>(
  memory: ChatMemory<M>,
  signal: AbortSignal,
  question: Entry<M> | undefined,
): Promise<M[]> {
  let view = await memory.messages({ signal });
  const last = view.at(-1);
  // Where the view shows it otherwise than it was asked, adding it changes nothing.
  if (question !== undefined && (last === undefined || !memory.format.equals(last, question.message))) {
    await memory.add(question);
    view = await memory.messages({ signal });
  }
  const messages = orderToolResults(view, memory);
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
