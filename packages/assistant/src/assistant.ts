import type { ChatMemory, MemoryOwner } from "@turnkeep/core";
import type { ApprovalRequest, ApprovalResponse, ToolCall, ToolResult } from "./messages.ts";
import type { Model } from "./model.ts";
import type { Tools } from "./tool.ts";

/** The answer to a call that no tool answered: text, or any output; an error unless `isError` is `false`. */
export type ToolAnswer = string | { readonly output: unknown; readonly isError?: boolean | undefined };

/**
 * What to do with a call that failed: tell the model (`"answer"`), end the turn with the error (`"throw"`), or call a
 * function: what it returns goes to the model, what it throws ends the turn.
 */
export type CallStrategy<Answer = ToolAnswer> =
  | "answer"
  | "throw"
  | ((error: unknown, call: ToolCall) => Answer | Promise<Answer>);

/** What to do when something goes wrong in a turn. */
export interface Strategies {
  /** A tool threw, or the memory refuses its result. Default `"answer"`: the model is told the error's message. */
  readonly toolError?: CallStrategy | undefined;
  /**
   * The input of a call is not a JSON object, or does not match the tool's schema. Default `"answer"`: the model is
   * told what is wrong. A function may return `{ input }`, a repaired input, which is checked again.
   */
  readonly invalidInput?: CallStrategy<ToolAnswer | { readonly input: unknown }> | undefined;
  /** The model calls a tool that does not exist. Default `"answer"`: the model is told which tools exist. */
  readonly unknownTool?: CallStrategy | undefined;
  /**
   * The model called tools in `maxRoundTrips` answers and calls them again. Default `"throw"`. `"answer"`: after the
   * last round it is asked for an answer without calls; if it calls again, that is `TOO_MANY_ROUND_TRIPS`.
   */
  readonly tooManyRoundTrips?: "throw" | "answer" | undefined;
}

/** What the model is told first: text, a message, or a function of the memory's id that returns either or nothing. */
export type SystemMessage<M> =
  | string
  | M
  | ((memoryId: string) => string | M | undefined | Promise<string | M | undefined>);

/** The options of an assistant, except where its conversations are kept. */
export interface AssistantPolicy<M> {
  /** Asks the model: `aiSdkModel`, `openaiCompatible`, or a function of your own. */
  readonly model: Model<M>;
  /** What the model may call, by name. Default: nothing. */
  readonly tools?: Tools | undefined;
  /**
   * The memory's prompt from the beginning of each turn on (`instruct`): text, a message with a text, or a function of the
   * memory's id. If the function returns nothing, the memory keeps the prompt it has.
   */
  readonly systemMessage?: SystemMessage<M> | undefined;
  /** How many answers with tool calls a turn may have. Default 100; 0 forbids tools. */
  readonly maxRoundTrips?: number | undefined;
  /** How many tools of one answer run at once. Default 4; 1 runs them one after another, in order. */
  readonly toolConcurrency?: number | undefined;
  /** What to do when something goes wrong. Each has a default of its own. */
  readonly strategies?: Strategies | undefined;
  /** What a chat does while another turn of its memory runs, in whatever process. Default `"enqueue"`. */
  readonly busy?: "reject" | "enqueue" | undefined;
  /**
   * After how long others take over the turn of a process that died, in milliseconds: see `turn` of `@turnkeep/core`.
   * Default 30,000.
   */
  readonly leaseMs?: number | undefined;
  /**
   * Time limit for a turn with all its requests and tools, in milliseconds from when it begins. After it, the turn ends
   * with `ABORTED`, as if its signal had fired. Below 2,147,483,648. Default: no limit.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * What stays of a turn that is stopped: by its signal, by leaving its stream, or by `timeoutMs`. Default `"keep"`: the
   * question, the steps, and the text that was streamed of the answer; a call that was cut off does not. `"discard"`: what
   * stays of any other turn that fails, see `keepFailedTurns`.
   */
  readonly onAbort?: "keep" | "discard" | undefined;
  /**
   * `true`: a turn that fails stays in memory as it is. Default `false`: if no tool has run, everything that the turn
   * added after the system message is removed again. If one has run, its effects cannot be undone: the turn stays, and
   * calls without a result get an error as their result.
   */
  readonly keepFailedTurns?: boolean | undefined;
}

/** Where an assistant finds the memories of many conversations. */
export interface ManyMemories<M> {
  /**
   * The memory with this id: the same instance each time, as `ChatMemories` of `@turnkeep/core` returns it. With an
   * owner, one that is refused unless the memory is the owner's.
   */
  get(id: string, options?: MemoryOwner): ChatMemory<M>;
}

/** Options of one chat. */
export interface ChatOptions {
  /**
   * The id of the user's message, 1 to 240 bytes. Repeat the chat with the same id after a failure, a crash or a lost
   * answer: an unfinished turn continues from what is stored, a finished one returns the stored answer. The memory's
   * store must keep history.
   */
  readonly id?: string | undefined;
  /** The memory to use: required if the assistant has `memories`. */
  readonly memoryId?: string | undefined;
  /**
   * On whose behalf, such as the user of the request that names the memory. The chat is `OWNER_MISMATCH`, before the model
   * is asked, if the memory is another's or nobody's. Must not be `undefined`. Only with `memories`.
   */
  readonly owner?: string;
  /** Ends the turn with `ABORTED`, whose `details.messageIds` has the id of the partial answer, if one was kept. */
  readonly signal?: AbortSignal | undefined;
}

/** What the user decides about calls of a turn that waits, in place of a message. */
export interface Approvals {
  /** Decisions about at least one of the turn's `approvalRequests`. The calls without one go on waiting. */
  readonly approvals: readonly ApprovalResponse[];
}

/** What the requests of one chat used, as the provider counted it: see `ModelUsage`. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens. */
  readonly cachedInputTokens: number;
  /** Of the input tokens. */
  readonly cacheWriteTokens: number;
  /** Of the output tokens. */
  readonly reasoningTokens: number;
}

/** The outcome of a turn. */
export interface ChatResult<M> {
  /** The model's final text; after an immediate return, or while calls wait, the text beside the calls, usually none. */
  readonly text: string;
  /**
   * `"stop"`: the model's answer. `"tool"`: an immediate return, whose `toolResults` are the answer. `"approval"`: calls
   * wait for the user, see `approvalRequests`. If the model reports that the answer was cut off: `"length"` (out of
   * tokens) or `"content-filter"` (the provider withheld the rest). These two are not stored: a turn that was finished
   * before returns `"stop"`. `"aborted"`: the turn was stopped before, and this is what was kept of the answer; to have it
   * made anew, `rewind` it and chat with the question and its id.
   */
  readonly finishReason: "stop" | "tool" | "approval" | "length" | "content-filter" | "aborted";
  /** The calls that wait for the user's approval, in call order; empty unless the finish reason is `"approval"`. */
  readonly approvalRequests: readonly ApprovalRequest[];
  /** The id of the user's message in memory. */
  readonly id: string;
  readonly memoryId: string;
  /** The assistant's messages of the turn, in order. */
  readonly messages: readonly M[];
  /** The results of the turn's tool calls, in call order; for a continued turn, those that can be read. */
  readonly toolResults: readonly ToolResult[];
  /** Total usage of the model requests that this chat made. A count that the model does not report adds nothing. */
  readonly usage: ChatUsage;
  /** Whether something of the turn after the user's message was already stored. */
  readonly continued: boolean;
}

/** What happens in a turn, as it happens. */
export type ChatEvent<M> =
  /**
   * A part of the model's text, as it streams; without streaming, an answer's whole text once it is stored. For a turn
   * that was finished before: the result's text.
   */
  | { readonly type: "text"; readonly text: string }
  /** Only while the model streams it. */
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ToolCall }
  /** The result is stored. */
  | { readonly type: "tool-result"; readonly result: ToolResult }
  /** A call waits for the user. The turn ends with these events. */
  | { readonly type: "tool-approval-request"; readonly request: ApprovalRequest }
  /** The last event. */
  | { readonly type: "finish"; readonly result: ChatResult<M> };

/** The arguments of `chat` and `stream` after the message, for an assistant with one memory: optional. */
export type OfOneMemory = [options?: ChatOptions];
/** The arguments of `chat` and `stream` after the message, for an assistant with `memories`: each chat names its own. */
export type OfManyMemories = [options: ChatOptions & { readonly memoryId: string }];
/** The same after {@link Approvals}: they need the `id` of the turn's message. */
export type OfTurn<Args extends readonly unknown[]> = [
  options: (Args extends OfManyMemories ? { readonly memoryId: string } : unknown) &
    ChatOptions & { readonly id: string },
];

/**
 * A chat loop with tools over a memory.
 *
 * A memory runs one turn at a time, in whatever process (`busy`; `memory.turn` of `@turnkeep/core`), which takes a write at
 * the beginning and one at the end. Every step is stored before the next begins: the user's message, each answer, each
 * result once its tool is done. A turn that a crash cut off can continue: see {@link ChatOptions.id}.
 *
 * Errors: those of the memory (`TurnkeepError`), the model function and the tools (strategy `"throw"`), unchanged;
 * `ABORTED` (a `TurnkeepError`) by the signal, `memory.requestStop()` or `timeoutMs`; `TURN_LOST` if another process may
 * have taken the turn over, since this one stood still, or did not reach the store, for `leaseMs`; `WINDOW_OVERFLOW`, with `details.needed` and
 * `details.limit`, if the question does not fit beside the turn's newest step; `ID_CONFLICT` if the id was used for another
 * message, or its turn cannot continue; `UNSUPPORTED` for an id if the store
 * keeps no history; `INVALID_OPTION` for arguments, or a model's answer, of the wrong shape, and for a blank question; and of
 * {@link AssistantError}: `BUSY`, `EMPTY_ANSWER`, `MEMORY_DELETED`, `QUESTION_GONE`, `TOO_MANY_ROUND_TRIPS`, `UNKNOWN_TOOL`,
 * `INVALID_TOOL_INPUT` and `UNDO_FAILED`; with approvals also `UNKNOWN_APPROVAL` and `APPROVAL_CONFLICT`.
 */
export interface Assistant<M, Args extends readonly unknown[] = OfOneMemory> {
  /**
   * Continues a turn that waits for the user (`finishReason` `"approval"`), in any process, at any later time. `id` is
   * the one of the turn's message, also `result.id`. The decisions are stored before a tool runs: the same ones again
   * change nothing, and return what is stored. Send the next ones once these are answered.
   *
   * Errors besides those above: `UNKNOWN_APPROVAL` for an id that no call of the turn has; `APPROVAL_CONFLICT` if the
   * user decided otherwise before, the call has a result without a decision, or the conversation has gone on; `BUSY` if
   * a process died with a call of the turn, perhaps the same one (then chat with the message and its id, which takes the
   * call for interrupted), or by {@link AssistantPolicy.busy}; `MEMORY_DELETED` if nothing is stored any
   * more.
   *
   * @example
   * ```ts
   * import { createAssistant, type Model, tool } from "@turnkeep/assistant";
   * import { assistant, createChatMemory, type ModelMessage, toolCall } from "@turnkeep/core";
   *
   * const model: Model<ModelMessage> = async ({ messages }) => ({
   *   message: messages.at(-1)?.role === "user" ? toolCall("call-1", "pay", { amount: 90 }) : assistant("Paid."),
   * });
   * const pay = tool<{ amount: number }>({
   *   inputSchema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
   *   needsApproval: ({ amount }) => amount > 50,
   *   execute: ({ amount }) => `paid ${amount}`,
   * });
   * const chat = createAssistant({ model, memory: createChatMemory(), tools: { pay } });
   * const { id, approvalRequests } = await chat.chat("Pay the bill.");
   * const approvals = approvalRequests.map(({ approvalId }) => ({ approvalId, approved: true }));
   * console.log((await chat.chat({ approvals }, { id })).text); // Paid.
   * ```
   */
  chat(approvals: Approvals, ...options: OfTurn<Args>): Promise<ChatResult<M>>;
  /** Runs one turn: the user's message, the tools that the model calls, its answer. */
  chat(message: string | M, ...options: Args): Promise<ChatResult<M>>;
  /** Continues a turn that waits for the user, as events. */
  stream(approvals: Approvals, ...options: OfTurn<Args>): AsyncIterableIterator<ChatEvent<M>>;
  /**
   * The same, as events. Nothing runs before the first event is requested; leaving the loop stops the turn (`onAbort`).
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
