import { type ChatMemory, type Entry, isTurnkeepError, TurnkeepError } from "@turnkeep/core";
import { orderToolResults } from "@turnkeep/core/processors";
import type { ModelUsage, ToolDefinition } from "./model.ts";

/**
 * The messages to send: the memory's view, with the results of an answer, which are stored as their tools finish, in
 * call order. A `question` that has nothing of its turn stored after it must be among them: another process that ran
 * the turn and gave up may have removed it. Errors: `WINDOW_OVERFLOW`, also if the window left nothing.
 */
export async function requestMessages<M>(
  memory: ChatMemory<M>,
  signal: AbortSignal,
  question: Entry<M> | undefined,
): Promise<M[]> {
  let view = await memory.messages({ signal });
  const last = view.at(-1);
  // If the view shows the question in another form, adding it again changes nothing.
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

/** Roughly right for English JSON: a guess for tool definitions, used only where it hardly matters. */
const charactersPerToken = 4;

/**
 * Corrects the window's counter by what the provider counted for the view just sent. Tool definitions are not part of
 * that view: if what they took were not subtracted, messages in a short request would count several times what they
 * are. If the model does not report it, it is guessed, and used only if it is at most a tenth of the whole.
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
    // A memory without a counter has nothing to correct, and there is no way to ask beforehand.
    if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
  }
}
