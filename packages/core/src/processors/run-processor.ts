import { orAborted, throwIfAborted } from "../abort.ts";
import { invalidOption, isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import { roles } from "../format/check-model-message.ts";
import type { MessageFormat } from "../message-format.ts";
import { kindOf } from "../values.ts";
import { frozenCopy, isKnownFrozen } from "./frozen-copy.ts";
import { listOf } from "./message-list.ts";
import type { Processor, ProcessorContext } from "./processor.ts";

const thrownBy = new WeakMap<object, string>();

/**
 * The name of the processor that threw this error in a chain. A processor's own errors are passed on as they are; this
 * tells which processor they came from.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 * import { applyProcessors, processorOf } from "@turnkeep/core/processors";
 *
 * const broken = {
 *   name: "broken",
 *   process() {
 *     throw new Error("no");
 *   },
 * };
 * await applyProcessors([user("Hello")], [broken]).catch((error) => processorOf(error)); // "broken"
 * ```
 */
export function processorOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? thrownBy.get(error) : undefined;
}

/**
 * Runs one processor on frozen messages and returns its result, frozen as well.
 * Errors: see `applyProcessors`.
 */
export async function runProcessor<M>(
  messages: readonly M[],
  processor: Processor<M>,
  context: ProcessorContext<M>,
): Promise<readonly M[]> {
  const { signal } = context;
  throwIfAborted(signal);
  const answers = listOf(messages, context.format).answerOf(processor);
  let answer: unknown;
  try {
    answer = await orAborted(Promise.resolve(processor.process(messages, context)), signal);
  } catch (error) {
    throwIfAborted(signal);
    throw asThrownBy(processor.name, error);
  }
  if (answer === messages) return messages;
  if (!Array.isArray(answer)) {
    throw wrongAnswer(processor.name, `${kindOf(answer)} in place of an array of messages`);
  }
  return answers.become(answer as readonly M[], (message, index) => {
    if (isMessage(message, context.format)) return frozenCopy(message, context.format);
    throw wrongAnswer(processor.name, `${kindOf(message)} in place of a message, at index ${index}`);
  });
}

/** Whether its format can read the message; one that was read before is not read again. */
export function isMessage<M>(value: M, format: MessageFormat<M>): boolean {
  if (isKnownFrozen(value)) return true;
  try {
    return roles.includes(format.role(value)) && Array.isArray(format.pieces(value));
  } catch {
    return false;
  }
}

function asThrownBy(name: string, error: unknown): unknown {
  const reported = isMutation(error)
    ? new TurnkeepError(
        "INVALID_OPTION",
        `The processor ${quoted(name)} tried to change what it was given: the messages and their array are frozen. ` +
          "Answer copies of what changes.",
        { cause: error },
      )
    : error;
  if (typeof reported === "object" && reported !== null && !thrownBy.has(reported)) {
    thrownBy.set(reported, name);
  }
  return reported;
}

/** How V8, JavaScriptCore and SpiderMonkey report a change to a frozen object: the error's type says too little. */
const mutationTexts: RegExp =
  /read[- ]?only property|is read-only|not extensible|(?:cannot|unable to) delete property|can't be deleted|can(?:no|')t redefine/i;

function isMutation(error: unknown): boolean {
  return error instanceof TypeError && !isTurnkeepError(error) && mutationTexts.test(error.message);
}

function wrongAnswer(name: string, what: string): TurnkeepError {
  const error = invalidOption(
    `The processor ${quoted(name)} answered ${what}. It must answer the messages to show, in their order.`,
  );
  thrownBy.set(error, name);
  return error;
}
