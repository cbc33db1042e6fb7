import { abortSignal } from "../abort.ts";
import { invalidOption, quoted } from "../errors.ts";
import type { ModelMessageLike } from "../format/model-message.ts";
import { modelMessageFormat } from "../format/model-message-format.ts";
import type { MessageFormat } from "../message-format.ts";
import { such, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeMembers } from "../option-fields.ts";
import { kindOf } from "../values.ts";
import { givenTo, returnedTo } from "./given.ts";
import type { Processor } from "./processor.ts";
import { runProcessor } from "./run-processor.ts";

/** Options of {@link applyProcessors}. */
export interface ApplyOptions<M> {
  /** Default: `modelMessageFormat`, for messages of the AI SDK. */
  readonly format?: MessageFormat<M> | undefined;
  /** Ends the call with `ABORTED`, whether the running processor listens or not. */
  readonly signal?: AbortSignal | undefined;
}

const fields = {
  format: optional(such<never>("a MessageFormat", hasPieces)),
  signal: optional(abortSignal),
} satisfies Fields<ApplyOptions<unknown>>;

function hasPieces(format: unknown): boolean {
  return typeof (format as Partial<MessageFormat<unknown>> | null)?.pieces === "function";
}

/**
 * Runs processors over a list of messages, in order, as a memory does over its view. Returns a new array. Messages that
 * no processor changed are in it as you passed them; messages that a processor changed or added are frozen.
 *
 * Processors receive frozen messages in a frozen array. Your own messages are never frozen: those that are not frozen
 * are copied for the processors.
 *
 * If you pass a list again after it has grown, with the same processors, the built-in ones reuse their work on its
 * beginning, as far as that is the same. Each message is compared with the one that was there before; one that is not
 * frozen, by its content.
 *
 * Errors: `INVALID_OPTION` for an unknown option, and, naming the processor, for a processor that changes what it was
 * given or returns anything but messages; `INVALID_MESSAGE` for what is no message of the format; `ABORTED`; and,
 * unchanged, whatever a processor itself throws: `processorOf` tells which one it was.
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
  const taken = takeMembers("applyProcessors' third argument", fields, options);
  const { signal = new AbortController().signal } = taken;
  const format = taken.format ?? (modelMessageFormat as unknown as MessageFormat<M>);
  const given = givenTo(processors[0] ?? processors, messages, format);
  let { shown } = given;
  for (const processor of processors) shown = await runProcessor(shown, processor, { format, signal });
  return returnedTo(shown, given, format);
}

/** Errors: `INVALID_OPTION` unless it is a list of processors. */
export function checkProcessors(processors: unknown): void {
  if (!Array.isArray(processors)) throw wrongOption("processors", processors, "an array of processors");
  for (const [index, processor] of (processors as readonly unknown[]).entries()) {
    const { name, process } = (processor ?? {}) as { name?: unknown; process?: unknown };
    if (typeof name !== "string" || name === "") {
      throw wrongOption(`processors[${index}].name`, name, "a non-empty text, to name it in errors");
    }
    if (typeof process !== "function") {
      throw wrongOption(`processors[${index}].process`, process, `a function, in ${quoted(name)}`);
    }
  }
}
