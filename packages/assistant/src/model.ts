import type { JsonSchema } from "./schema.ts";

/** A tool as it is described to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchema;
}

/** A part of an answer that is still being made. */
export interface ModelDelta {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

/** What the assistant asks of a model. */
export interface ModelRequest<M> {
  /** Never empty. The messages are frozen: copy one to change it. */
  readonly messages: readonly M[];
  /** What the model may call; empty without tools. */
  readonly tools: readonly ToolDefinition[];
  /** `"none"`: answer without calls. The tools are still listed: some providers refuse calls of unlisted ones. */
  readonly toolChoice: "auto" | "none";
  /** Fires when the turn is aborted. Pass it on to the request. */
  readonly signal: AbortSignal;
  readonly memoryId: string;
  /**
   * Set if somebody reads the answer as a stream. A model that cannot stream need not call it: the answer's text is
   * then one event once it is stored. A model that passes part of the text must pass all of it: the rest is not added,
   * since nobody could tell which part of the text the deltas were.
   */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
}

/** The usage of a request, as the provider counted it. */
export interface ModelUsage {
  /** All input tokens, cached ones included. */
  readonly inputTokens?: number | undefined;
  /** All output tokens, reasoning included. */
  readonly outputTokens?: number | undefined;
  /** How many of the input tokens the provider read from its prompt cache. */
  readonly cachedInputTokens?: number | undefined;
  /** How many of the input tokens the provider wrote to its prompt cache, if it says so. */
  readonly cacheWriteTokens?: number | undefined;
  /** How many of the output tokens were reasoning. */
  readonly reasoningTokens?: number | undefined;
  /**
   * How many of the input tokens were not messages but tool definitions, if known: see `memory.calibrate`. If unknown,
   * a request whose tools may be more than a tenth of it does not calibrate the memory.
   */
  readonly otherTokens?: number | undefined;
}

/** What a model returns. */
export interface ModelResponse<M> {
  /** The assistant message, which is stored as it is. */
  readonly message: M;
  readonly usage?: ModelUsage | undefined;
  /** The model's name, kept with the message. */
  readonly model?: string | undefined;
  /**
   * Why the answer ended, by the AI SDK's names. `"length"` and `"content-filter"`, which mean that it was cut off,
   * become the chat's `finishReason`; others do not affect it.
   */
  readonly finishReason?: string | undefined;
}

/**
 * Asks a model for one answer. If it throws, the turn ends with that error. If the provider reports that the messages
 * exceed what the model can read, it may throw an `AssistantError` with the code `PROMPT_TOO_LONG`.
 *
 * @example
 * ```ts
 * import type { Model } from "@turnkeep/assistant";
 * import { assistant, type ModelMessage } from "@turnkeep/core";
 *
 * const parrot: Model<ModelMessage> = async ({ messages }) => ({
 *   message: assistant(`You said: ${JSON.stringify(messages.at(-1)?.content)}`),
 * });
 * ```
 */
export type Model<M> = (request: ModelRequest<M>) => Promise<ModelResponse<M>>;
