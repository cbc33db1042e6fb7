import {
  type ChatMemories,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import {
  type Assistant,
  type ChatEvent,
  type ChatResult,
  createAssistant,
  type ManyMemories,
  type Model,
  type OfManyMemories,
  type Strategies,
  type Tool,
} from "../src/index.ts";
import { javaArguments, type TypedTool, typedTool } from "./langchain4j-typed-tools.ts";
import { type VectorMessage, vectorCounter, vectorFormat, vectorMessages } from "./vector-messages.ts";

export interface Thrown {
  readonly class: string;
  readonly message: string;
}

interface Outcome {
  readonly return?: string | null;
  readonly sleepMs?: number;
  readonly throw?: Thrown;
}

export interface RecordedTool {
  readonly name: string;
  readonly outcomes?: readonly Outcome[];
  readonly returnBehavior?: "TO_LLM" | "IMMEDIATE" | "IMMEDIATE_IF_LAST";
  readonly typed?: TypedTool;
}

export interface Options {
  readonly mode?: "sync" | "streaming";
  readonly memory: null | {
    readonly kind: "message" | "token";
    readonly maxMessages?: number;
    readonly maxTokens?: number;
    readonly alwaysKeepSystemMessageFirst?: boolean;
  };
  readonly systemMessage?: string;
  readonly systemMessages?: readonly (string | null)[];
  readonly systemAnnotation?: string;
  readonly tools?: readonly RecordedTool[];
  readonly maxToolCallingRoundTrips?: number;
  readonly executeToolsConcurrently?: boolean;
  readonly hallucinatedToolName?: { readonly text: string };
  readonly toolExecutionErrorHandler?: { readonly rethrow?: boolean; readonly textPrefix?: string };
  readonly toolArgumentsErrorHandler?: { readonly text: string };
  readonly augment?: { readonly suffix: string };
  readonly storeRetrievedContentInChatMemory?: boolean;
  readonly chatRequestTransformer?: { readonly appendUser?: string };
  readonly moderation?: { readonly flagIfAnyContains: string };
  readonly resultType?: "text" | "result";
  readonly listOverhead?: number;
}

export type ScriptedAnswer = { readonly assistant: Omit<VectorMessage, "role"> } | { readonly throw: Thrown };

export interface SeenRequest {
  readonly messages: readonly VectorMessage[];
  readonly tools: readonly string[];
}

/** An assistant with the options that correspond to a recorded case's, and what its model and tools have seen. */
export class Scenario {
  readonly requests: SeenRequest[] = [];
  readonly toolRuns: Record<string, unknown>[] = [];
  readonly #options: Options;
  readonly #memories: ChatMemories<VectorMessage> | undefined;
  readonly #assistant: Assistant<VectorMessage, OfManyMemories>;
  /** The arguments of each call as the model wrote them: a tool of ours gets what they mean. */
  readonly #arguments = new Map<string, string>();

  constructor(options: Options, script: readonly ScriptedAnswer[]) {
    this.#options = options;
    this.#memories = memoriesOf(options);
    const fresh: ManyMemories<VectorMessage> = {
      get: () => createChatMemory<VectorMessage>({ format: vectorFormat }),
    };
    let asked = 0;
    const { systemMessage = options.systemAnnotation, systemMessages: system } = options;
    this.#assistant = createAssistant<VectorMessage>({
      model: this.#moderated(this.#augmented(this.#transformed(this.#scripted(script)))),
      memories: this.#memories ?? fresh,
      messages: vectorMessages,
      tools: Object.fromEntries((options.tools ?? []).map((tool) => [tool.name, this.#tool(tool)])),
      systemMessage:
        system === undefined
          ? systemMessage
          : () => system[Math.min(asked++, system.length - 1)] ?? undefined,
      maxRoundTrips: options.maxToolCallingRoundTrips,
      toolConcurrency: options.executeToolsConcurrently === true ? 8 : 1,
      strategies: this.#strategies(),
      keepFailedTurns: true,
    });
  }

  chat(text: string, memoryId: string): Promise<ChatResult<VectorMessage>> {
    return this.#assistant.chat(this.#stored(text), { memoryId });
  }

  stream(text: string, memoryId: string): AsyncIterableIterator<ChatEvent<VectorMessage>> {
    return this.#assistant.stream(this.#stored(text), { memoryId });
  }

  async memory(id: string): Promise<VectorMessage[]> {
    if (this.#memories === undefined) throw new Error("this case has no memory");
    return this.#memories.get(id).messages();
  }

  #stored(text: string): string {
    const { augment, storeRetrievedContentInChatMemory: isStored = true } = this.#options;
    return isStored ? text + (augment?.suffix ?? "") : text;
  }

  /** What is retrieved but not stored is put into what the model is sent. */
  #augmented(model: Model<VectorMessage>): Model<VectorMessage> {
    const { augment, storeRetrievedContentInChatMemory: isStored = true } = this.#options;
    if (augment === undefined || isStored) return model;
    return (request) => {
      const last = request.messages.findLastIndex(({ role }) => role === "user");
      const messages = request.messages.map((message, place) =>
        place === last ? { ...message, text: message.text + augment.suffix } : message,
      );
      return model({ ...request, messages });
    };
  }

  #scripted(script: readonly ScriptedAnswer[]): Model<VectorMessage> {
    const answers = script.values();
    return async ({ messages, tools, onDelta }) => {
      this.requests.push({
        messages: structuredClone(messages),
        tools: tools.map(({ name }) => name).sort(),
      });
      const answer = answers.next().value;
      if (answer === undefined) throw new Error("the script has ended");
      if ("throw" in answer) throw javaError(answer.throw);
      const message: VectorMessage = { role: "assistant", ...answer.assistant };
      for (const call of message.toolCalls ?? []) this.#arguments.set(call.id ?? "", call.arguments ?? "");
      if (message.text !== undefined) onDelta?.({ type: "text", text: message.text });
      return { message };
    };
  }

  #transformed(model: Model<VectorMessage>): Model<VectorMessage> {
    const text = this.#options.chatRequestTransformer?.appendUser;
    if (text === undefined) return model;
    return (request) => model({ ...request, messages: [...request.messages, { role: "user", text }] });
  }

  #moderated(model: Model<VectorMessage>): Model<VectorMessage> {
    const needle = this.#options.moderation?.flagIfAnyContains;
    if (needle === undefined) return model;
    return async (request) => {
      const flagged = request.messages.find(({ text = "" }) => text.includes(needle));
      const response = await model(request);
      if (flagged === undefined) return response;
      throw new Error(`Text "${flagged.text}" violates content policy`);
    };
  }

  #tool({ name, outcomes = [], returnBehavior = "TO_LLM", typed }: RecordedTool): Tool {
    const behavior = {
      TO_LLM: "model",
      IMMEDIATE: "immediate",
      IMMEDIATE_IF_LAST: "immediate-if-last",
    } as const;
    const common = { returnBehavior: behavior[returnBehavior] };
    if (typed !== undefined) {
      return { ...common, ...typedTool(name, typed, (parsed) => this.toolRuns.push({ name, parsed })) };
    }
    let runs = 0;
    return {
      ...common,
      inputSchema: { type: "object" },
      execute: async (_, { memoryId, toolCallId }) => {
        const outcome = outcomes[Math.min(runs++, outcomes.length - 1)];
        this.toolRuns.push({ name, arguments: this.#arguments.get(toolCallId), memoryId });
        if (outcome?.sleepMs !== undefined) {
          await new Promise((resolve) => setTimeout(resolve, outcome.sleepMs));
        }
        if (outcome?.throw !== undefined) throw javaError(outcome.throw);
        return outcome?.return;
      },
    };
  }

  #strategies(): Strategies {
    const { hallucinatedToolName, toolExecutionErrorHandler, toolArgumentsErrorHandler } = this.#options;
    const typed = new Set((this.#options.tools ?? []).flatMap((tool) => (tool.typed ? [tool.name] : [])));
    const prefix = toolExecutionErrorHandler?.textPrefix;
    return {
      unknownTool:
        hallucinatedToolName === undefined
          ? "throw"
          : () => ({ output: hallucinatedToolName.text, isError: false }),
      invalidInput: (error, { name, input }) => {
        // A tool of which the library reads no arguments gets whatever the model wrote.
        if (!typed.has(name)) return { input: {} };
        const repaired = javaArguments(input);
        if (repaired !== undefined) return { input: repaired };
        if (toolArgumentsErrorHandler === undefined) throw error;
        return toolArgumentsErrorHandler.text;
      },
      toolError:
        toolExecutionErrorHandler?.rethrow === true
          ? "throw"
          : prefix === undefined && !this.#hasWrappedErrors()
            ? "answer"
            : (error) => (prefix ?? "") + innermost(error as Error),
    };
  }

  #hasWrappedErrors(): boolean {
    const outcomes = (this.#options.tools ?? []).flatMap((tool) => tool.outcomes ?? []);
    return outcomes.some((outcome) => outcome.throw?.class === "wrapped");
  }
}

function memoriesOf({ memory, listOverhead = 0 }: Options): ChatMemories<VectorMessage> | undefined {
  if (memory === null) return undefined;
  const window: WindowOptions<VectorMessage> =
    memory.kind === "message"
      ? { unit: "message", maxMessages: memory.maxMessages }
      : { unit: "message", maxTokens: memory.maxTokens, counter: vectorCounter(listOverhead) };
  return createChatMemories<VectorMessage>({
    store: inMemoryStore(),
    format: vectorFormat,
    window,
    systemFirst: memory.alwaysKeepSystemMessageFirst,
  });
}

function javaError({ class: name, message }: Thrown): Error {
  if (name === "wrapped") return new Error("outer text", { cause: new Error(message) });
  return Object.assign(new Error(message), { name });
}

function innermost(error: Error): string {
  const { message, name } = error.cause instanceof Error ? error.cause : error;
  return message.trim() === "" ? name : message;
}
