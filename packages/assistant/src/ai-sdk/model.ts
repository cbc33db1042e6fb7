import type { ModelMessage, ModelMessageLike } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { CallsById } from "@turnkeep/core/processors";
import { type Fields, onAbort, optional, such, takeOptions } from "@turnkeep/core/store-kit";
import { generateText, jsonSchema, type LanguageModel, streamText } from "ai";
import { newCallId } from "../call-id.ts";
import { AssistantError } from "../errors.ts";
import type { Model, ModelRequest, ModelResponse } from "../model.ts";
import { unreadableInput } from "../model-messages.ts";
import { isContextLengthError } from "../openai-compatible/context-length.ts";
import { sentName } from "../openai-compatible/sent-calls.ts";

/** Which model, and the SDK's own settings for it. */
export interface AiSdkOptions {
  /** A model of the SDK, or the id of one. */
  readonly model: LanguageModel;
  /** Passed on to `generateText` and `streamText` as they are. */
  readonly settings?:
    | Pick<
        Parameters<typeof generateText>[0],
        | "headers"
        | "maxOutputTokens"
        | "maxRetries"
        | "providerOptions"
        | "seed"
        | "stopSequences"
        | "temperature"
        | "topK"
        | "topP"
      >
    | undefined;
}

const fields = {
  model: such<LanguageModel>("a language model of the AI SDK, or the name of one", isModel),
  // The SDK checks them.
  settings: optional(),
} satisfies Fields<AiSdkOptions>;

function isModel(value: unknown): boolean {
  return typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;
}

/** What both majors return, as far as it is read here. */
interface Answer {
  readonly response: {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly modelId: string;
  };
  readonly toolCalls: readonly { readonly toolCallId: string; readonly input: unknown }[];
  readonly usage: {
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
    readonly inputTokenDetails?: {
      readonly cacheReadTokens: number | undefined;
      readonly cacheWriteTokens: number | undefined;
    };
    readonly outputTokenDetails?: { readonly reasoningTokens: number | undefined };
  };
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
}

interface SdkPart {
  readonly type?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly providerExecuted?: boolean;
  readonly providerOptions?: object;
}

/**
 * A language model of the AI SDK: uses `generateText`, or `streamText` if somebody follows the answer. The SDK converts
 * messages, downloads files and retries as usual; the assistant runs the tools.
 *
 * Errors: `INVALID_OPTION` for options of the wrong kind. The SDK's own are passed on, except for two
 * `AssistantError`s: `PROMPT_TOO_LONG`, with the SDK's as cause, if the provider says that the messages are too long;
 * `MODEL_ERROR` if the SDK only says that an answer ended in an error, or a stream ended without a reason.
 *
 * @example
 * ```ts
 * import { createAssistant } from "@turnkeep/assistant";
 * import { aiSdkModel } from "@turnkeep/assistant/ai-sdk";
 * import { createChatMemory } from "@turnkeep/core";
 * import type { ModelMessage } from "ai";
 *
 * const assistant = createAssistant({
 *   model: aiSdkModel({ model: "openai/gpt-5", settings: { maxOutputTokens: 1000 } }),
 *   memory: createChatMemory<ModelMessage>({ window: { maxMessages: 40 } }),
 * });
 * ```
 */
export function aiSdkModel<M extends ModelMessageLike = ModelMessage>(options: AiSdkOptions): Model<M> {
  takeOptions("aiSdkModel's argument", fields, options);
  return async (request) => {
    try {
      const isStreamed = request.onDelta !== undefined;
      const answer = await (isStreamed ? streamed : generated)(options, request);
      if (answer.finishReason === "error" || (isStreamed && isEndless(answer))) throw brokenOff(request);
      return responseOf<M>(answer);
    } catch (error) {
      if (!isContextLengthError(error)) throw error;
      throw new AssistantError("PROMPT_TOO_LONG", "The messages are too long for the model.", {
        cause: error,
        details: { memoryId: request.memoryId },
      });
    }
  };
}

/** Such an answer is not whole, and nobody asked for a part. */
function brokenOff<M>({ memoryId }: ModelRequest<M>, cause?: unknown): AssistantError {
  return new AssistantError("MODEL_ERROR", "The model's provider broke off its answer (error).", {
    cause,
    details: { memoryId },
  });
}

/** A stream that ended before its provider gave a reason: the SDK takes what came for an answer, even half a call. */
function isEndless({ finishReason, rawFinishReason }: Answer): boolean {
  return rawFinishReason === undefined && (finishReason === "other" || finishReason === "unknown");
}

async function generated<M>(options: AiSdkOptions, request: ModelRequest<M>): Promise<Answer> {
  return generateText(settingsOf(options, request));
}

async function streamed<M>(options: AiSdkOptions, request: ModelRequest<M>): Promise<Answer> {
  // When its stream is left, the SDK keeps the connection: only a signal ends that.
  const connection = new AbortController();
  const close = (): void => connection.abort(request.signal.reason);
  if (request.signal.aborted) close();
  const stopFollowing = onAbort(request.signal, close);
  try {
    // Without a listener the SDK prints errors; they are thrown here.
    const settings = { ...settingsOf(options, request), abortSignal: connection.signal };
    const result = streamText({ ...settings, onError: () => undefined });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") request.onDelta?.({ type: "text", text: part.text });
      else if (part.type === "reasoning-delta") request.onDelta?.({ type: "reasoning", text: part.text });
      else if (part.type === "error")
        throw part.error instanceof Error ? part.error : brokenOff(request, part.error);
      else if (part.type === "abort") request.signal.throwIfAborted();
    }
    return {
      response: await result.response,
      toolCalls: await result.toolCalls,
      usage: await result.usage,
      finishReason: await result.finishReason,
      rawFinishReason: await result.rawFinishReason,
    };
  } catch (error) {
    close();
    throw error;
  } finally {
    stopFollowing();
  }
}

function settingsOf<M>(
  { model, settings }: AiSdkOptions,
  { messages, tools, toolChoice, signal }: ModelRequest<M>,
): Parameters<typeof generateText>[0] {
  const names = new Set(tools.map(({ name }) => name));
  return {
    ...settings,
    model,
    // Works for both majors: messages of the other major do not fit a model function by type.
    messages: messages.flatMap((message) => withoutApprovals(withSentNames(message, names))) as never,
    // The system message stays where the memory has it.
    allowSystemInMessages: true,
    abortSignal: signal,
    ...(tools.length === 0
      ? {}
      : {
          toolChoice,
          tools: Object.fromEntries(
            tools.map(({ name, description, inputSchema }) => [
              name,
              {
                ...(description === undefined ? {} : { description }),
                inputSchema: jsonSchema(inputSchema as never),
              },
            ]),
          ),
        }),
  };
}

/**
 * The message itself if it holds no approvals of the assistant's calls. The SDK would carry out, or refuse, what the last
 * message approves. Those of calls that the provider runs are sent.
 */
function withoutApprovals<M>(message: M): M[] {
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown };
  if (role !== "tool" || !Array.isArray(content)) return [message];
  const parts = content.filter(
    ({ type, providerExecuted }: SdkPart) => type !== "tool-approval-response" || providerExecuted === true,
  );
  if (parts.length === content.length) return [message];
  return parts.length === 0 ? [] : [{ ...message, content: parts }];
}

/** The message itself if providers accept all names in it. */
function withSentNames<M>(message: M, tools: ReadonlySet<string>): M {
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown };
  if (!Array.isArray(content)) return message;
  const isOdd = ({ type, toolName, providerExecuted }: SdkPart): boolean =>
    // Results in an assistant message are the provider's own.
    type === (role === "tool" ? "tool-result" : "tool-call") &&
    providerExecuted !== true &&
    sentName(toolName, tools) !== toolName;
  if (!content.some(isOdd)) return message;
  const parts = content.map((part: SdkPart) =>
    isOdd(part) ? { ...part, toolName: sentName(part.toolName, tools) } : part,
  );
  return { ...message, content: parts };
}

/** The assistant message alone: a result that the SDK itself made for a call that it finds invalid is not ours. */
function responseOf<M>({ response, toolCalls, usage, finishReason }: Answer): ModelResponse<M> {
  const { content = [] } = response.messages.find(({ role }) => role === "assistant") ?? {};
  // In messages the SDK replaces an input that it could not read with an empty object.
  const calls = new CallsById<Answer["toolCalls"][number]>();
  // In order, because calls of one answer may share an id.
  calls.askTogether(toolCalls.map((call) => [call.toolCallId, call]));
  const kept = Array.isArray(content)
    ? content.map((part: SdkPart) => {
        if (part.type !== "tool-call") return part;
        const call = calls.take(part.toolCallId ?? "");
        return call === undefined || isObject(call.input) ? part : withUnreadable(part, call.input);
      })
    : content;
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = usage;
  return {
    message: { role: "assistant", content: withOwnIds(kept) } as unknown as M,
    usage: {
      inputTokens,
      outputTokens,
      cachedInputTokens: inputTokenDetails?.cacheReadTokens,
      cacheWriteTokens: inputTokenDetails?.cacheWriteTokens,
      reasoningTokens: outputTokenDetails?.reasoningTokens,
    },
    model: response.modelId,
    finishReason,
  };
}

/**
 * Each call under an id of its own, made here where the model's server gave none or one twice: the result of a second call
 * of one id would answer none. A provider's own calls keep theirs.
 */
function withOwnIds(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const taken = new Set<string>();
  return content.map((part: SdkPart) => {
    if (part.type !== "tool-call") return part;
    const { toolCallId, providerExecuted } = part;
    const isOwn = toolCallId !== undefined && toolCallId !== "" && !taken.has(toolCallId);
    const id = isOwn || providerExecuted === true ? toolCallId : newCallId();
    taken.add(id ?? "");
    return id === toolCallId ? part : { ...part, toolCallId: id };
  });
}

function withUnreadable(part: SdkPart, given: unknown): object {
  const { input, providerOptions } = unreadableInput(textOf(given));
  return { ...part, input, providerOptions: { ...part.providerOptions, ...providerOptions } };
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
}
