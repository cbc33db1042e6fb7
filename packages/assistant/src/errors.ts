/**
 * The codes of an {@link AssistantError}. A code never changes within a major version; a message may.
 *
 * | code | what happened | what to do |
 * |---|---|---|
 * | `APPROVAL_CONFLICT` | the user has decided otherwise before, the call was answered without a decision, or the conversation has gone on | show the user what is stored |
 * | `BUSY` | a turn of that memory is running, in whatever process, and `busy` is `"reject"`; or decisions came for a turn whose process died in a call | wait, set `busy: "enqueue"`; if the process died, send the message again with its id |
 * | `EMPTY_ANSWER` | the model returned neither text nor a tool call; its tokens may have run out while it reasoned | ask again, allow it more tokens |
 * | `INVALID_TOOL_INPUT` | the arguments of a call do not match the tool's schema | choose another strategy, or ask again |
 * | `MEMORY_DELETED` | the conversation was deleted (`clear`, `erase`) or expired during the turn, or while the chat waited for one; nothing more was stored | begin another one, or leave it |
 * | `MODEL_ERROR` | a model's server refused the request, broke off, or could not be reached | see `details.status`, and wait `details.retryAfterMs` if it is set |
 * | `PROMPT_TOO_LONG` | the messages exceed what the model can read | shrink the memory's window, then ask again |
 * | `QUESTION_GONE` | the turn's question was taken back during the turn (`rewind`, `remove`, `set`), which stored nothing more | show the conversation as it is; ask again if it still counts |
 * | `TOO_MANY_ROUND_TRIPS` | the model still calls tools after `maxRoundTrips` rounds | raise it, or set `tooManyRoundTrips: "answer"` |
 * | `UNDO_FAILED` | a turn failed or was stopped, and so did taking it back, or keeping its rest; `errors` has both errors | look at the store |
 * | `UNKNOWN_APPROVAL` | no call of the turn waits under that approval id | use an id of the result's `approvalRequests` |
 * | `UNKNOWN_TOOL` | the model calls a tool that does not exist | choose another strategy, or ask again |
 */
export type AssistantErrorCode =
  | "APPROVAL_CONFLICT"
  | "BUSY"
  | "EMPTY_ANSWER"
  | "INVALID_TOOL_INPUT"
  | "MEMORY_DELETED"
  | "MODEL_ERROR"
  | "PROMPT_TOO_LONG"
  | "QUESTION_GONE"
  | "TOO_MANY_ROUND_TRIPS"
  | "UNDO_FAILED"
  | "UNKNOWN_APPROVAL"
  | "UNKNOWN_TOOL";

/** Facts about an error, for programs. Never a message's content or a key. */
export interface AssistantErrorDetails {
  readonly memoryId?: string | undefined;
  /** The HTTP status that the model's server returned. */
  readonly status?: number | undefined;
  /** How long the server asks you to wait before the next request, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly toolName?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly approvalId?: string | undefined;
}

const marker: unique symbol = Symbol.for("turnkeep.assistant.error") as never;

/**
 * The errors of an assistant. Errors of the memory (`TurnkeepError`), the tools and the model function are passed on
 * unchanged.
 *
 * @example
 * ```ts
 * import { type Assistant, isAssistantError } from "@turnkeep/assistant";
 * import type { ModelMessage } from "@turnkeep/core";
 *
 * async function ask(assistant: Assistant<ModelMessage>, question: string): Promise<string> {
 *   try {
 *     return (await assistant.chat(question)).text;
 *   } catch (error) {
 *     if (isAssistantError(error, "BUSY")) return "One question at a time, please.";
 *     throw error;
 *   }
 * }
 * ```
 */
export class AssistantError extends Error {
  override readonly name: string = "AssistantError";
  readonly code: AssistantErrorCode;
  readonly details: AssistantErrorDetails;
  /** With `UNDO_FAILED`: first the error of the turn, then that of taking it back. */
  readonly errors: readonly unknown[];

  constructor(
    code: AssistantErrorCode,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly details?: AssistantErrorDetails | undefined;
      readonly errors?: readonly unknown[] | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.errors = options.errors ?? [];
    Object.defineProperty(this, marker, { value: true });
  }
}

/**
 * Whether `error` is an {@link AssistantError}, and has this code if one is given. Also recognises errors from another
 * installed copy of this package, which `instanceof` does not.
 *
 * @example
 * ```ts
 * import { AssistantError, isAssistantError } from "@turnkeep/assistant";
 *
 * isAssistantError(new AssistantError("BUSY", "busy"), "BUSY"); // true
 * ```
 */
export function isAssistantError<Code extends AssistantErrorCode = AssistantErrorCode>(
  error: unknown,
  code?: Code,
): error is AssistantErrorCode extends Code ? AssistantError : AssistantError & { readonly code: Code } {
  return (
    typeof error === "object" &&
    error !== null &&
    (error as { [marker]?: unknown })[marker] === true &&
    (code === undefined || (error as AssistantError).code === code)
  );
}
