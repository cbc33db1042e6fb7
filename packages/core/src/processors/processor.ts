import type { MessageFormat } from "../message-format.ts";

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
  /** Named in errors and events. */
  readonly name: string;
  /**
   * Set where what it makes of a message depends on that message alone. Reasoning that a provider binds to what stood
   * before it then stays in the view; behind a change of any other processor it is left out. And it runs over what
   * `window.summarize` is given.
   */
  readonly eachAlone?: boolean | undefined;
  /** Set where it keeps the view within a limit: one that follows it could break that limit, so a memory warns of it. */
  readonly limitsView?: boolean | undefined;
  /** Answers the messages to show, in their order. The messages and the array are frozen: answer copies of what changes. */
  process(messages: readonly M[], context: ProcessorContext<M>): readonly M[] | Promise<readonly M[]>;
}

/** A processor for messages of every format, as the built-in ones are. */
export interface AnyProcessor extends Omit<Processor<never>, "process"> {
  process<M>(messages: readonly M[], context: ProcessorContext<M>): readonly M[];
}
