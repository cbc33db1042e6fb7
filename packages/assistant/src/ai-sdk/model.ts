import type { ModelMessageLike } from "@turnkeep/core";
import { checkObject, wrongOption } from "@turnkeep/core/store-kit";
import { generateText, jsonSchema, type LanguageModel, streamText } from "ai";
import { AssistantError } from "../errors.ts";
import type { Model, ModelRequest, ModelResponse } from "../model.ts";
import { isObject, unreadableInput } from "../model-messages.ts";
import { isContextLengthError } from "../openai-compatible/context-length.ts";

/** Which model, and the SDK's own settings for it. */
export interface AiSdkOptions {
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

/** What both majors answer, as far as it is read here. */
interface Answer {
  readonly response: {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly modelId: string;
  };
  readonly toolCalls: readonly { readonly toolCallId: string; readonly input: unknown }[];
  readonly usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined };
  readonly finishReason: string;
}

/**
 * A language model of the AI SDK, by `generateText`, or `streamText` where somebody follows the answer. The SDK converts
 * messages, downloads files and retries as it always does; tools are run by the assistant.
 *
 * Errors: `INVALID_OPTION` for options of the wrong kind. Of the model: the SDK's as they are, but for those of a provider
 * that says the messages are too long: `PROMPT_TOO_LONG` (an `AssistantError`) with the SDK's as its cause; and `MODEL_ERROR`
 * where the SDK says no more than that an answer ended by an error.
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
export function aiSdkModel<M extends ModelMessageLike>(options: AiSdkOptions): Model<M> {
  checkObject("aiSdkModel's argument", options, ["model", "settings"]);
  const { model } = options;
  if ((typeof model !== "string" || model === "") && (typeof model !== "object" || model === null))
    throw wrongOption("model", model, "a language model of the AI SDK, or the name of one");
  return async (request) => {
    try {
      const answer = await (request.onDelta === undefined ? generated : streamed)(options, request);
      if (answer.finishReason === "error") throw brokenOff(request);
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

/** What there is of such an answer is not whole, and nobody asked for a part. */
function brokenOff<M>({ memoryId }: ModelRequest<M>): AssistantError {
  return new AssistantError("MODEL_ERROR", "The model's provider broke off its answer (error).", {
    details: { memoryId },
  });
}

async function generated<M>(options: AiSdkOptions, request: ModelRequest<M>): Promise<Answer> {
  return generateText(settingsOf(options, request));
}

async function streamed<M>(options: AiSdkOptions, request: ModelRequest<M>): Promise<Answer> {
  // Without a listener the SDK prints errors; they are thrown here.
  const result = streamText({ ...settingsOf(options, request), onError: () => undefined });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") request.onDelta?.({ type: "text", text: part.text });
    else if (part.type === "reasoning-delta") request.onDelta?.({ type: "reasoning", text: part.text });
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") request.signal.throwIfAborted();
  }
  return {
    response: await result.response,
    toolCalls: await result.toolCalls,
    usage: await result.usage,
    finishReason: await result.finishReason,
  };
}

function settingsOf<M>(
  { model, settings }: AiSdkOptions,
  { messages, tools, toolChoice, signal }: ModelRequest<M>,
): Parameters<typeof generateText>[0] {
  return {
    ...settings,
    model,
    // Of either major: a memory of the other one's messages does not fit a model function by its type.
    messages: messages as never,
    // The system message stands where the memory has it.
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

/** The assistant's message alone: a result that the SDK made itself, of a call that it finds invalid, is none of ours. */
function responseOf<M>({ response, toolCalls, usage, finishReason }: Answer): ModelResponse<M> {
  const { content = [] } = response.messages.find(({ role }) => role === "assistant") ?? {};
  // In messages the SDK puts an empty object in the place of an input that it could not read.
  const unreadable = new Map(
    toolCalls.flatMap(({ toolCallId, input }) =>
      isObject(input) ? [] : [[toolCallId, unreadableInput(textOf(input))] as const],
    ),
  );
  const kept = Array.isArray(content)
    ? content.map((part: { readonly toolCallId?: string }) => withUnreadable(part, unreadable))
    : content;
  const { inputTokens, outputTokens } = usage;
  return {
    message: { role: "assistant", content: kept } as unknown as M,
    usage: { inputTokens, outputTokens },
    model: response.modelId,
    finishReason,
  };
}

function withUnreadable(
  part: { readonly toolCallId?: string; readonly providerOptions?: object },
  unreadable: ReadonlyMap<string, ReturnType<typeof unreadableInput>>,
): object {
  const found = part.toolCallId === undefined ? undefined : unreadable.get(part.toolCallId);
  if (found === undefined) return part;
  return {
    ...part,
    input: found.input,
    providerOptions: { ...part.providerOptions, ...found.providerOptions },
  };
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
}
