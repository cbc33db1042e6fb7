import type { JsonSchema } from "./schema.ts";

/** A tool as the model is told of it. */
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

/** What a model is asked. */
export interface ModelRequest<M> {
  /** Never empty. The messages are frozen: copy one to change it. */
  readonly messages: readonly M[];
  readonly tools: readonly ToolDefinition[];
  /** `"none"`: the answer must be one without calls. The tools are still listed: some providers refuse calls of others. */
  readonly toolChoice: "auto" | "none";
  readonly signal: AbortSignal;
  readonly memoryId: string;
  /**
   * There if somebody waits for the answer as it is made. A model that cannot stream need not call it: then the answer's
   * text is one event once it is stored. A model that gives a part of the text gives all of it, since the rest is not
   * added: it would have to be guessed what of the text the deltas were.
   */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
}

/** What a request has used, as the provider counted it. */
export interface ModelUsage {
  /** All input tokens, those read from a cache included. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /**
   * What of the input tokens was no message (tool definitions), where that is known: see `memory.calibrate`. Where it is
   * not, a request whose tools may be more than a tenth of it does not calibrate the memory.
   */
  readonly otherTokens?: number | undefined;
}

/** What a model answers. */
export interface ModelResponse<M> {
  /** The assistant's message, to be stored as it is. */
  readonly message: M;
  readonly usage?: ModelUsage | undefined;
  /** The model's name, kept with the message. */
  readonly model?: string | undefined;
  /**
   * Why the answer ended, by the AI SDK's names: `"length"` and `"content-filter"`, of one that was cut off, become the
   * chat's `finishReason`; others say nothing to it.
   */
  readonly finishReason?: string | undefined;
}

/**
 * Asks a model for one answer. What it throws ends the turn and is passed on. It may throw an `AssistantError` with the
 * code `PROMPT_TOO_LONG` where the provider says that the messages exceed what the model can read.
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
