import type { ChatMemory } from "@turnkeep/core";
import type { ToolCall, ToolResult } from "./messages.ts";
import type { Model } from "./model.ts";
import type { Tools } from "./tool.ts";

/** What answers a call that no tool answered: text, or any output; as an error unless `isError` is `false`. */
export type ToolAnswer = string | { readonly output: unknown; readonly isError?: boolean | undefined };

/**
 * What to do with a call that failed: tell the model (`"answer"`), end the turn with the error (`"throw"`), or what a
 * function decides: what it answers goes to the model, what it throws ends the turn.
 */
export type CallStrategy<Answer = ToolAnswer> =
  | "answer"
  | "throw"
  | ((error: unknown, call: ToolCall) => Answer | Promise<Answer>);

/** What to do when something in a turn goes wrong. */
export interface Strategies {
  /** A tool threw, or answered what the memory does not take. Default `"answer"`: the model is told the error's message. */
  readonly toolError?: CallStrategy | undefined;
  /**
   * The input of a call is no JSON object, or not what the tool's schema wants. Default `"answer"`: the model is told
   * what is wrong. A function may answer `{ input }`, a repaired input, which is checked again.
   */
  readonly invalidInput?: CallStrategy<ToolAnswer | { readonly input: unknown }> | undefined;
  /** The model calls a tool that there is not. Default `"answer"`: the model is told which there are. */
  readonly unknownTool?: CallStrategy | undefined;
  /**
   * The model has called tools in `maxRoundTrips` answers and does so again. Default `"throw"`; `"answer"`: after the last
   * round it is asked for an answer without calls, and if it calls again, that is `TOO_MANY_ROUND_TRIPS`.
   */
  readonly tooManyRoundTrips?: "throw" | "answer" | undefined;
}

export type SystemMessage<M> =
  | string
  | M
  | ((memoryId: string) => string | M | undefined | Promise<string | M | undefined>);

/** The options of an assistant but for where its conversations are kept. */
export interface AssistantPolicy<M> {
  readonly model: Model<M>;
  readonly tools?: Tools | undefined;
  /**
   * Set at the beginning of each turn: text, a message, or a function of the memory's id. If it answers nothing, the
   * system message that the memory has stays.
   */
  readonly systemMessage?: SystemMessage<M> | undefined;
  /** How many answers with tool calls a turn may have. Default 100; 0 forbids tools. */
  readonly maxRoundTrips?: number | undefined;
  /** How many tools of one answer run at once. Default 4; 1 runs them in order, one after another. */
  readonly toolConcurrency?: number | undefined;
  readonly strategies?: Strategies | undefined;
  /** What a chat does while another turn of its memory is under way in this process. Default `"enqueue"`. */
  readonly busy?: "reject" | "enqueue" | undefined;
  /**
   * How long a turn may take, in milliseconds from when it begins, with all its requests and tools; then it ends with
   * `ABORTED`, like one that its signal ends. Below 2,147,483,648. Default: as long as the model and the tools take.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * `true`: a turn that fails stays in memory as it is. Default `false`: if no tool has run, what the turn added behind
   * the system message is taken out again; if one has, that cannot be undone and stays, and calls that nothing answered
   * get an error as their result.
   */
  readonly keepFailedTurns?: boolean | undefined;
}

/** Where an assistant finds the memories of many conversations. */
export interface ManyMemories<M> {
  /** The memory with that id: the same instance each time. `ChatMemories` of `@turnkeep/core` does that. */
  get(id: string): ChatMemory<M>;
}

/** What belongs to one chat alone. */
export interface ChatOptions {
  /**
   * The id of the user's message, 1 to 240 bytes. Ask again with the same id after a failure, a crash or a lost answer:
   * a turn that is not finished goes on from what is stored, a finished one answers what is stored. Such a memory's store
   * must keep history.
   */
  readonly id?: string | undefined;
  /** Which memory: required where the assistant has `memories`. */
  readonly memoryId?: string | undefined;
  /** Ends the turn with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** What a turn came to. */
export interface ChatResult<M> {
  /** What the model says in the end; after an immediate return what it said beside the calls, usually nothing. */
  readonly text: string;
  /**
   * `"stop"`: the model's answer; `"tool"`: an immediate return, whose `toolResults` are the answer. Of an answer that was
   * cut off, as the model says, `"length"`: its tokens ended, or `"content-filter"`: the provider held back the rest. That is
   * not stored: a turn that was finished before has `"stop"`.
   */
  readonly finishReason: "stop" | "tool" | "length" | "content-filter";
  /** The id of the user's message in memory. */
  readonly id: string;
  readonly memoryId: string;
  /** The assistant's messages of the turn, in order. */
  readonly messages: readonly M[];
  /** The results of the turn's tool calls, in the order of the calls; of a continued turn as far as they can be read. */
  readonly toolResults: readonly ToolResult[];
  /** What the model's requests of this chat used together. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Whether something of the turn behind the user's message was stored before. */
  readonly continued: boolean;
}

/** What happens in a turn, as it happens. */
export type ChatEvent<M> =
  /**
   * A part of what the model says, as it streams it; else an answer's whole text, once it is stored. Of a turn that was
   * finished before: the result's text.
   */
  | { readonly type: "text"; readonly text: string }
  /** Only as the model streams it. */
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ToolCall }
  /** The result is stored. */
  | { readonly type: "tool-result"; readonly result: ToolResult }
  /** The last one. */
  | { readonly type: "finish"; readonly result: ChatResult<M> };

/** What `chat` and `stream` take beside the message: nothing need be given to an assistant with one memory. */
export type OfOneMemory = [options?: ChatOptions];
export type OfManyMemories = [options: ChatOptions & { readonly memoryId: string }];

/**
 * A chat loop with tools over a memory.
 *
 * One turn of a memory object runs at a time (`busy`): let a process have one for each id, as `createChatMemories` does.
 * Every step is stored before the next is begun: the user's message, each answer of the model, each result as soon as its tool is done. So a turn that a crash cut off can go on
 * where it was: see {@link ChatOptions.id}. Two processes that run one turn at once may ask the model twice; let one process
 * at a time run turns of a memory, since two questions at once may get each other's answers.
 *
 * Errors: those of the memory (`TurnkeepError`), of the model function and of tools (strategy `"throw"`) as they are;
 * `ABORTED` (a `TurnkeepError`) by the signal or `timeoutMs`; `WINDOW_OVERFLOW` if the window leaves nothing to send; `ID_CONFLICT`
 * if the id was used for another message, its turn cannot go on, or another process runs it too (then ask again);
 * `UNSUPPORTED` for an id where the store keeps no history; `INVALID_OPTION` for arguments, or a model's answer, of
 * the wrong shape; of {@link AssistantError} `BUSY`, `EMPTY_ANSWER`, `MEMORY_DELETED`, `TOO_MANY_ROUND_TRIPS`, `UNKNOWN_TOOL`,
 * `INVALID_TOOL_INPUT` and `UNDO_FAILED`.
 */
export interface Assistant<M, Args extends readonly unknown[] = OfOneMemory> {
  /** One turn: the user's message, the tools that the model calls, its answer. */
  chat(message: string | M, ...options: Args): Promise<ChatResult<M>>;
  /**
   * The same, as it happens. Nothing is done before the first event is asked for; leaving the loop aborts the turn.
   *
   * @example
   * ```ts
   * import type { Assistant } from "@turnkeep/assistant";
   * import type { ModelMessage } from "@turnkeep/core";
   *
   * async function print(assistant: Assistant<ModelMessage>, question: string): Promise<void> {
   *   for await (const event of assistant.stream(question)) {
   *     if (event.type === "text") process.stdout.write(event.text);
   *   }
   * }
   * ```
   */
  stream(message: string | M, ...options: Args): AsyncIterableIterator<ChatEvent<M>>;
}
