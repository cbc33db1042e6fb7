/**
 * A middleware for LangChain's agents.
 *
 * @module
 */
import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from "@langchain/core/messages";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import {
  chatMemories,
  type Fields,
  invalidOption,
  memoryOf,
  optional,
  such,
  takeOptions,
} from "@turnkeep/core/store-kit";
import { type AgentMiddleware, createMiddleware, ToolInvocationError } from "langchain";
import { wholeOf } from "./format/dict.ts";
import { langchainFormat } from "./format.ts";
import { Recorder, type Stage } from "./middleware/recorder.ts";

/** What a run was invoked with. */
export interface TurnkeepRuntime<Context = unknown> {
  /** What `invoke` was given as `context`. */
  readonly context: Context;
  /** What `invoke` was given as `configurable`, `thread_id` among it. */
  readonly configurable: Readonly<Record<string, unknown>>;
}

/** Options of {@link turnkeepMiddleware}. */
export interface TurnkeepMiddlewareOptions<Context = unknown> {
  /** Where the conversations are kept: `createChatMemories({ format: langchainFormat, … })`. */
  readonly memories: ChatMemories<BaseMessage>;
  /**
   * On whose behalf the agent runs: a conversation of another owner is `OWNER_MISMATCH`, before anything is read or
   * stored. A function answers it for each run, from its context; `undefined` is refused.
   */
  readonly owner?: string | ((runtime: TurnkeepRuntime<Context>) => string);
}

const fields = {
  memories: chatMemories,
  owner: optional(such("a text or a function", (value) => ["string", "function"].includes(typeof value))),
} satisfies Fields<TurnkeepMiddlewareOptions>;

/**
 * A middleware for `createAgent` of `langchain`: the conversation with the id `configurable.thread_id` is kept in a
 * Turnkeep memory. Before each model call the request's messages are what that memory shows: its window, repaired, in the
 * shape that its `profile` accepts, with the question that is being answered. Each answer is stored before its tools run,
 * and each result as soon as its tool is done, so a run that was killed goes on with the next `invoke`, in any process.
 *
 * List it first: then a retry or another middleware sees a tool's error before it becomes a result.
 *
 * Errors of a run: `INVALID_OPTION` without a `thread_id`, `OWNER_MISMATCH`, `WINDOW_OVERFLOW`, `NOT_FOUND` if the question
 * was taken back or the conversation deleted meanwhile, and those of a memory's calls. Once the run has begun, LangChain
 * wraps them in a `MiddlewareError`, whose `cause` they are.
 *
 * @example
 * ```ts
 * import { fakeModel } from "@langchain/core/testing";
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { langchainFormat } from "@turnkeep/langchain";
 * import { turnkeepMiddleware } from "@turnkeep/langchain/middleware";
 * import { AIMessage, createAgent } from "langchain";
 *
 * const memories = createChatMemories({
 *   store: inMemoryStore(),
 *   format: langchainFormat,
 *   window: { maxMessages: 40, unit: "turn" },
 * });
 * const agent = createAgent({
 *   model: fakeModel().respond(new AIMessage("Good morning.")),
 *   middleware: [turnkeepMiddleware({ memories, owner: ({ context }: { context: { user: string } }) => context.user })],
 * });
 * await agent.invoke({ messages: "Hello" }, { configurable: { thread_id: "chat-1" }, context: { user: "ann" } });
 * ```
 */
export function turnkeepMiddleware<Context = unknown>(
  options: TurnkeepMiddlewareOptions<Context>,
): AgentMiddleware<undefined, undefined, unknown> {
  takeOptions("turnkeepMiddleware's options", fields, options as TurnkeepMiddlewareOptions);
  const recorder = new Recorder();
  const memory = (runtime: object): ChatMemory<BaseMessage> => memoryFor(options, runtime);
  const keeping =
    (stageOf: (runtime: object) => Stage) =>
    async (state: State, runtime: object): Promise<undefined> => {
      await recorder.keep(memory(runtime), state.messages, stageOf(runtime));
    };
  return createMiddleware({
    name: "TurnkeepMiddleware",
    beforeAgent: keeping((runtime) => (isWithinGraph(runtime) ? "joins" : "begins")),
    afterAgent: keeping(() => "goes on"),
    async wrapModelCall(request, handler) {
      const { state, runtime } = request;
      const own = memory(runtime);
      await recorder.keep(own, state.messages);
      const messages = await recorder.view(own, state.messages, request.messages, runtime.signal);
      const response = wholeAnswer(await handler({ ...request, messages }));
      const answer = answerOf(response);
      if (answer !== undefined) await recorder.add(own, state.messages, answer);
      return response;
    },
    async wrapToolCall(request, handler) {
      const { messages } = request.state;
      const own = memory(request.runtime);
      await recorder.keep(own, messages);
      const result = await Promise.resolve(handler(request)).catch((error: unknown) =>
        failed(error, request.toolCall, request.runtime.signal),
      );
      await recorder.add(own, messages, ...resultsOf(result, request.toolCall.id));
      return result;
    },
  });
}

interface State {
  readonly messages: readonly BaseMessage[];
}

function memoryFor<Context>(
  { memories, ...asked }: TurnkeepMiddlewareOptions<Context>,
  runtime: Partial<TurnkeepRuntime<Context>>,
): ChatMemory<BaseMessage> {
  const { configurable, context } = invokedWith(runtime);
  const { thread_id: id } = configurable;
  if (typeof id !== "string" || id === "") {
    throw invalidOption(
      'The run has no thread_id. Invoke the agent with { configurable: { thread_id: "…" } }.',
    );
  }
  const { owner } = asked;
  const open = (named: { readonly owner?: string | undefined }): ChatMemory<BaseMessage> =>
    memoryOf(memories, { id, ...named }, langchainFormat, "langchainFormat");
  if (typeof owner === "function") return open({ owner: owner({ context, configurable }) });
  return open("owner" in asked ? { owner } : {});
}

/** A hook's own runtime has no `configurable` in langchain 1.0, and in some hooks an empty context. */
function invokedWith<Context>(runtime: Partial<TurnkeepRuntime<Context>>): TurnkeepRuntime<Context> {
  const config = (AsyncLocalStorageProviderSingleton.getRunnableConfig() ?? runtime) as typeof runtime;
  const { configurable = config.configurable ?? {} } = runtime;
  return { configurable, context: (config.context ?? runtime.context) as Context };
}

/** LangGraph names the places of its nodes so, each within that of the graph around it. */
function isWithinGraph(runtime: object): boolean {
  return String(invokedWith(runtime).configurable.checkpoint_ns).includes("|");
}

/** The same with what was streamed as complete messages, so that the state holds what is stored. */
function wholeAnswer<R extends object>(response: R): R {
  if (isBaseMessage(response)) return wholeOf(response);
  const { messages } = response as { readonly messages?: readonly BaseMessage[] };
  return messages === undefined ? response : { ...response, messages: messages.map(wholeOf) };
}

/** With a response format, a handler answers the model's message among others. */
function answerOf(response: unknown): AIMessage | undefined {
  if (AIMessage.isInstance(response)) return response;
  const { messages = [] } = response as { readonly messages?: readonly unknown[] };
  return messages.find((message) => AIMessage.isInstance(message));
}

/** A call's result. A tool may also answer by a command: the result is then among what that adds to the messages. */
function resultsOf(answered: object, callId: string | undefined): ToolMessage[] {
  if (ToolMessage.isInstance(answered)) return [answered];
  const { update } = answered as { readonly update?: object | null };
  const changes: unknown[][] = Array.isArray(update) ? update : Object.entries(update ?? {});
  return changes
    .flatMap(([channel, added]) => (channel === "messages" ? added : []))
    .filter((message) => ToolMessage.isInstance(message))
    .filter(({ tool_call_id }) => tool_call_id === callId);
}

/**
 * What LangChain makes of a tool's error where no middleware stands around tools; where one does, the error would end the
 * run. What is no tool's error is thrown on: an interrupt, a stop, the error of another middleware.
 */
function failed(
  error: unknown,
  { id = "", name }: { readonly id?: string; readonly name: string },
  signal: AbortSignal | undefined,
): ToolMessage {
  const { is_bubble_up: isBubbling, "~brand": brand } = (error ?? {}) as Record<string, unknown>;
  if (isBubbling === true || brand === "MiddlewareError" || signal?.aborted === true) throw error;
  const content =
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`;
  return new ToolMessage({ content, tool_call_id: id, name, status: "error" });
}
