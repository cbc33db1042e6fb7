import type { MessageFormat } from "../message-format.ts";

/** What a processor is given beside the messages. */
export interface ProcessorContext<M> {
  readonly format: MessageFormat<M>;
  /** Fires when the call that asked for the view ends. */
  readonly signal: AbortSignal;
}

/**
 * Shapes what the model is shown; what is stored stays as it is.
 *
 * @example
 * ```ts
 * import type { ModelMessage, Processor } from "@turnkeep/core";
 *
 * const withoutTools: Processor<ModelMessage> = {
 *   name: "without-tools",
 *   process: (messages, { format }) => messages.filter((message) => format.role(message) !== "tool"),
 * };
 * ```
 */
export interface Processor<M> {
  /** Appears in errors and events. */
  readonly name: string;
  /**
   * Set this if the result for a message depends on that message alone. Reasoning that a provider binds to what stood
   * before it then stays in the view; after a change by any other processor it is left out. The processor also runs
   * over what `window.summarize` is given.
   */
  readonly eachAlone?: boolean | undefined;
  /**
   * Set this if the processor leaves out what is too long, and nothing that the model must not see: `recallTool` then shows
   * it whole.
   */
  readonly shortens?: boolean | undefined;
  /** Set this if the processor keeps the view within a limit: a memory warns if one that could break it follows. */
  readonly limitsView?: boolean | undefined;
  /** Returns the messages to show, in order. The messages and the array are frozen: return copies of what changes. */
  process(messages: readonly M[], context: ProcessorContext<M>): readonly M[] | Promise<readonly M[]>;
}

/** A processor for messages of every format, like the built-in ones. */
export interface AnyProcessor extends Omit<Processor<never>, "process"> {
  process<M>(messages: readonly M[], context: ProcessorContext<M>): readonly M[];
}
