import { TurnkeepError } from "../errors.ts";
import { deepFreeze } from "../memory/item.ts";
import type { MessageFormat } from "../message-format.ts";
import type { Processor } from "./processor.ts";

export interface ApplyProcessorsOptions<M> {
  readonly format: MessageFormat<M>;
  /** Ends the call with the signal's reason, between two processors; each processor is given it too. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs processors over messages, one after the other, each on what the one before it answered. Works without a memory,
 * too. The messages are frozen on the way in; the array that is answered is the caller's.
 *
 * Errors: `INVALID_OPTION`, naming the processor, for one that changes what it was given or answers no array of
 * messages. What a processor throws otherwise is passed on as it is.
 *
 * @example
 * ```ts
 * import { modelMessageFormat, user } from "@turnkeep/core";
 * import { applyProcessors, type Processor } from "@turnkeep/core/processors";
 *
 * const lastTwo: Processor<unknown> = { name: "last-two", process: (messages) => messages.slice(-2) };
 * const messages = [user("One"), user("Two"), user("Three")];
 * await applyProcessors(messages, [lastTwo], { format: modelMessageFormat }); // the last two
 * ```
 */
export async function applyProcessors<M>(
  messages: readonly M[],
  processors: readonly Processor<M>[],
  { format, signal = new AbortController().signal }: ApplyProcessorsOptions<M>,
): Promise<M[]> {
  let current: readonly M[] = messages;
  for (const processor of processors) {
    signal.throwIfAborted();
    const given = Object.freeze(current.map((message) => deepFreeze(message)));
    const answer = await run(processor, given, { format, signal });
    if (!Array.isArray(answer) || answer.some((message) => message === null || message === undefined)) {
      throw new TurnkeepError(
        "INVALID_OPTION",
        `The processor ${JSON.stringify(processor.name)} must answer an array of messages; it answered ${kindOf(answer)}.`,
      );
    }
    current = answer;
  }
  return [...current];
}

async function run<M>(
  processor: Processor<M>,
  messages: readonly M[],
  context: { readonly format: MessageFormat<M>; readonly signal: AbortSignal },
): Promise<unknown> {
  try {
    return await processor.process(messages, context);
  } catch (error) {
    if (!isMutation(error)) throw error;
    throw new TurnkeepError(
      "INVALID_OPTION",
      `The processor ${JSON.stringify(processor.name)} changed a message that it was given. ` +
        "Messages are frozen: answer a copy of what changes.",
      { cause: error },
    );
  }
}

/** What engines throw for a change of a frozen object (V8, SpiderMonkey, JavaScriptCore). */
function isMutation(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /read[- ]?only|not extensible|non-configurable|Cannot (assign|add|delete|redefine)/i.test(error.message)
  );
}

function kindOf(answer: unknown): string {
  if (Array.isArray(answer)) return "an array with holes";
  return answer === null ? "null" : `a value of type ${typeof answer}`;
}
