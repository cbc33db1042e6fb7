import { type ChatMemory, isTurnkeepError, TurnkeepError } from "@turnkeep/core";
import { orderToolResults } from "@turnkeep/core/processors";
import { quoted } from "@turnkeep/core/store-kit";
import type { ModelUsage, ToolDefinition } from "./model.ts";

/** What every request of a turn holds. */
export interface MustHold<M> {
  readonly question: M;
  readonly questionId: string;
  /** The ids of the turn's newest answer and what is stored of its results. */
  readonly newestIds: readonly string[];
}

/**
 * The messages to send: the memory's view, with the results of an answer, which are stored as their tools finish, in
 * call order. A model that is not shown the question would answer another, and one that is not shown what its tools
 * have done would do it again. Errors: `WINDOW_OVERFLOW` if they do not fit, or a processor leaves the question out;
 * `NOT_FOUND` if one is not there any more.
 */
export async function requestMessages<M>(
  memory: ChatMemory<M>,
  signal: AbortSignal,
  { question, questionId, newestIds }: MustHold<M>,
): Promise<M[]> {
  const pinned = [questionId, ...newestIds];
  const view = await memory.messages({ signal, pinned });
  // It is one of the newest.
  if (view.findLastIndex((message) => memory.format.equals(message, question)) < 0) {
    // A processor or the profile may have changed it.
    const { messages } = await memory.explain({ signal, pinned, evicted: 0 });
    const left = messages.find(({ id, state }) => id === questionId && state === "filtered");
    if (left !== undefined) throw leftOut(memory.id, questionId, left.by);
  }
  return orderToolResults(view, memory);
}

function leftOut(memoryId: string, questionId: string, by = "unknown"): TurnkeepError {
  return new TurnkeepError(
    "WINDOW_OVERFLOW",
    `The processor ${quoted(by)} of memory ${quoted(memoryId)} left out the question of the turn. Raise its limit, ` +
      'or let the window bound the view (window, with unit "turn").',
    { details: { memoryId, messageIds: [questionId] } },
  );
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
