/** A call that the model made and that the application has to answer. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model gave it: a value, or text that should be JSON. */
  readonly input: unknown;
}

/** What answers a call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Text, or what JSON holds. */
  readonly output: unknown;
  readonly isError: boolean;
}

/**
 * How an assistant reads and makes messages of type `M`, beyond what the memory's `MessageFormat` says of them. There is
 * one for the default format, for OpenAI's chat messages (`@turnkeep/assistant/openai`) and for Anthropic's
 * (`@turnkeep/assistant/anthropic`); a format of your own takes five functions.
 */
export interface AssistantMessages<M> {
  system(text: string): M;
  user(text: string): M;
  /** What an assistant's message says to the user; `""` if nothing. */
  text(message: M): string;
  /** The calls of an assistant's message, in order, without those that the provider runs itself. */
  toolCalls(message: M): readonly ToolCall[];
  /** A message that answers one call. */
  toolResult(result: ToolResult): M;
  /** The results in a message, where they can be read back; used when a turn is continued that was stored before. */
  toolResults?(message: M): readonly ToolResult[];
  /**
   * Whether the client completes the input of a call that was cut off, as Anthropic's does. Then nobody can tell whether the
   * last call of an answer that was cut off is whole, and it is not carried out.
   */
  readonly completesInputs?: boolean | undefined;
}
