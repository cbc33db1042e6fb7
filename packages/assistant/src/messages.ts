/** A call by the model that the application must answer. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model gave it: a value, or text that should be JSON. */
  readonly input: unknown;
}

/** The answer to a call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Text, or a JSON value. */
  readonly output: unknown;
  readonly isError: boolean;
  /** Whether no tool ran because the user denied the call. */
  readonly isDenied?: boolean | undefined;
}

/** A call that waits until the user approves or denies it. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly call: ToolCall;
}

/** What the user decides about the call behind an {@link ApprovalRequest}. */
export interface ApprovalResponse {
  readonly approvalId: string;
  readonly approved: boolean;
  /** Kept with the decision. The model is told the reason of a denial. */
  readonly reason?: string | undefined;
}

/** How approvals stand in messages of type `M`. The memory's `MessageFormat` reads the requests. */
export interface ApprovalMessages<M> {
  /** The same answer with requests to approve some of its calls: one message, so that none is stored without them. */
  request(answer: M, requests: readonly { readonly approvalId: string; readonly toolCallId: string }[]): M;
  /** One message that holds these decisions. Its role is `tool`. */
  response(responses: readonly ApprovalResponse[]): M;
  /** The decisions in a message. */
  responses(message: M): readonly ApprovalResponse[];
}

/**
 * How an assistant reads and makes messages of type `M`, beyond what the memory's `MessageFormat` knows.
 * Implementations exist for the default format, for OpenAI's chat messages (`@turnkeep/assistant/openai`) and for
 * Anthropic's (`@turnkeep/assistant/anthropic`). For a format of your own, write six functions, and `approvals` if tools need them.
 */
export interface AssistantMessages<M> {
  system(text: string): M;
  user(text: string): M;
  /** An answer of this text alone: what was streamed of one that was stopped. */
  assistant(text: string): M;
  /** What an assistant message says to the user; `""` if nothing. */
  text(message: M): string;
  /** The calls of an assistant message, in order, without those that the provider runs itself. */
  toolCalls(message: M): readonly ToolCall[];
  /** A message that answers one call. */
  toolResult(result: ToolResult): M;
  /** The results in a message, if they can be read back; used to continue a stored turn. */
  toolResults?(message: M): readonly ToolResult[];
  /**
   * Whether the client completes the input of a call that was cut off, as Anthropic's does. Then the last call of an
   * answer that was cut off may look whole although it is not, and is not run.
   */
  readonly completesInputs?: boolean | undefined;
  /**
   * Required for tools with `needsApproval`. OpenAI's and Anthropic's own messages have no place for approvals. A
   * request names its call by id, so no two calls of an answer may share one.
   */
  readonly approvals?: ApprovalMessages<M> | undefined;
}
