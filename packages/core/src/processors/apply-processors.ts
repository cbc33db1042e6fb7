import type { ModelMessageLike } from "../format/model-message.ts";
import { modelMessageFormat } from "../format/model-message-format.ts";
import type { MessageFormat } from "../message-format.ts";
import { checkUnlessInstance, kindOf, wrongOption } from "../option-checks.ts";
import { invalidOption } from "../stores/store-errors.ts";
import { asGiven, givenTo } from "./given.ts";
import type { Processor } from "./processor.ts";
import { runProcessor } from "./run-processor.ts";

export interface ApplyOptions<M> {
  /** Default: `modelMessageFormat`, for messages of the AI SDK. */
  readonly format?: MessageFormat<M> | undefined;
  /** Ends the call with `ABORTED`, whether the processor that runs listens or not. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs processors over a list of messages, in their order, as a memory does over its view. Answers a fresh array. What
 * no processor changed is in it as it was given; what one changed or added is frozen.
 *
 * Processors are given frozen messages in a frozen array. Nothing of the caller's is frozen: he may hand in messages
 * that are not, and then copies of them go to the processors.
 *
 * Hand in a list again after it has grown, with the same processors, and what the built-in ones made of its beginning is
 * used again: each message is compared with the one that stood there before, one that is not frozen by its content.
 *
 * Errors: `INVALID_OPTION` for an option that there is not, and, naming the processor, for one that changes what it was
 * given or answers anything but messages; `ABORTED`; and whatever a processor throws itself, unchanged: `processorOf`
 * tells whose it was.
 *
 * @example
 * ```ts
 * import { assistant, toolCall, toolResult, user } from "@turnkeep/core";
 * import { applyProcessors, toolCallFilter } from "@turnkeep/core/processors";
 *
 * const messages = [
 *   user("Weather in Oslo?"),
 *   toolCall("call-1", "weather", { city: "Oslo" }),
 *   toolResult("call-1", "weather", "4 °C"),
 *   assistant("4 °C."),
 * ];
 * const shown = await applyProcessors(messages, [toolCallFilter()]);
 * shown.map(({ role }) => role); // ["user", "assistant"]
 * ```
 */
export function applyProcessors<M extends ModelMessageLike>(
  messages: readonly M[],
  processors: readonly Processor<NoInfer<M>>[],
  options?: ApplyOptions<ModelMessageLike>,
): Promise<M[]>;
export function applyProcessors<M>(
  messages: readonly M[],
  processors: readonly Processor<NoInfer<M>>[],
  options: ApplyOptions<NoInfer<M>> & { readonly format: MessageFormat<NoInfer<M>> },
): Promise<M[]>;
export async function applyProcessors<M>(
  messages: readonly M[],
  processors: readonly Processor<M>[],
  options: ApplyOptions<M> = {},
): Promise<M[]> {
  if (!Array.isArray(messages)) {
    const message = `applyProcessors needs an array of messages, not ${kindOf(messages)}.`;
    throw invalidOption(message);
  }
  checkProcessors(processors);
  checkUnlessInstance("applyProcessors' third argument", options, ["format", "signal"]);
  const { signal = new AbortController().signal } = options;
  const format = options.format ?? (modelMessageFormat as unknown as MessageFormat<M>);
  const given = givenTo(processors[0] ?? processors, messages, format);
  let { shown } = given;
  for (const processor of processors) shown = await runProcessor(shown, processor, { format, signal });
  return given.isCopied ? asGiven(shown) : [...shown];
}

/** Errors: `INVALID_OPTION` for what is no list of processors. */
export function checkProcessors(processors: unknown): void {
  if (!Array.isArray(processors)) throw wrongOption("processors", processors, "an array of processors");
  for (const [index, processor] of (processors as readonly unknown[]).entries()) {
    const { name, process } = (processor ?? {}) as { name?: unknown; process?: unknown };
    if (typeof name !== "string" || name === "") {
      throw wrongOption(`processors[${index}].name`, name, "a non-empty text, to name it in errors");
    }
    if (typeof process !== "function") {
      throw wrongOption(`processors[${index}].process`, process, `a function, in ${JSON.stringify(name)}`);
    }
  }
}
