import {
  type AnyMessage,
  type ChatMemory,
  createChatMemory,
  type ModelMessage,
  type ModelMessageLike,
  TurnkeepError,
} from "@turnkeep/core";
import {
  abortSignal,
  type Fields,
  onAbort,
  optional,
  quoted,
  such,
  takeOptions,
  utf8Length,
  wrongOption,
} from "@turnkeep/core/store-kit";
import { orAborted, withTimeout } from "./abort.ts";
import { isApprovals, responsesOf } from "./approvals.ts";
import type {
  Approvals,
  Assistant,
  AssistantPolicy,
  ChatEvent,
  ChatOptions,
  ChatResult,
  ManyMemories,
  OfManyMemories,
} from "./assistant.ts";
import { EventQueue } from "./event-queue.ts";
import type { AssistantMessages } from "./messages.ts";
import { type AssistantOptions, checkNotBlank, type Setup, setupOf } from "./setup.ts";
import { Turn } from "./turn.ts";
import { whileFree } from "./turn-queue.ts";

/** Only messages of the default format need no `messages`. */
type OwnMessages<M> = [M] extends [ModelMessageLike]
  ? {
      /** How messages are read and made. Default: as those of the default format. */
      readonly messages?: AssistantMessages<NoInfer<M>> | undefined;
    }
  : {
      /** How messages are read and made: `openaiMessages<ChatMessage>()`, `anthropicMessages<AnthropicMessage>()`. */
      readonly messages: AssistantMessages<NoInfer<M>>;
    };
type OfOne<M> = {
  /** The one memory that the assistant works over. Default: each chat starts empty and keeps nothing. */
  readonly memory?: ChatMemory<M> | undefined;
  readonly memories?: undefined;
};
type OfMany<M> = {
  /** Many memories, such as `createChatMemories({ store })`: each chat names its own. */
  readonly memories: ManyMemories<M>;
  readonly memory?: undefined;
};

/**
 * Creates an assistant over one memory, or over many (`memories`, with the id that each chat names). With neither, each
 * chat starts empty and keeps nothing. For a format other than the default one, `messages` says how to make messages.
 *
 * Errors: `INVALID_OPTION` (a `TurnkeepError`) for an option of the wrong shape.
 *
 * @example
 * ```ts
 * import { createAssistant, tool } from "@turnkeep/assistant";
 * import { openaiCompatible } from "@turnkeep/assistant/openai-compatible";
 * import { createChatMemory } from "@turnkeep/core";
 *
 * const assistant = createAssistant({
 *   model: openaiCompatible({ baseUrl: "http://localhost:11434/v1", model: "llama3.2" }),
 *   memory: createChatMemory({ window: { maxMessages: 40, unit: "turn" } }),
 *   systemMessage: "You are brief.",
 *   tools: {
 *     weather: tool({
 *       description: "The weather in a city",
 *       inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *       execute: async ({ city }) => `4 °C in ${city}`,
 *     }),
 *   },
 * });
 * const { text } = await assistant.chat("Do I need a coat in Oslo?");
 * ```
 */
export function createAssistant<M extends AnyMessage = ModelMessage>(
  options: AssistantPolicy<NoInfer<M>> & OwnMessages<M> & OfOne<M>,
): Assistant<M>;
export function createAssistant<M extends AnyMessage = ModelMessage>(
  options: AssistantPolicy<NoInfer<M>> & OwnMessages<M> & OfMany<M>,
): Assistant<M, OfManyMemories>;
export function createAssistant<M>(options: AssistantOptions<M>): Assistant<M> {
  return new MemoryAssistant(setupOf(options));
}

/** The longest id of a user's message: the turn's other ids are made from it, and a store takes 256 bytes. */
const longestId = 240;

const chatFields = {
  id: optional(such<string>(`a text of 1 to ${longestId} bytes`, isTurnId)),
  memoryId: optional(),
  owner: optional(),
  signal: optional(abortSignal),
} satisfies Fields<ChatOptions>;

function isTurnId(id: unknown): boolean {
  return typeof id === "string" && id !== "" && utf8Length(id) <= longestId;
}

/** Errors: `INVALID_OPTION`. */
function checkChat(options: ChatOptions): void {
  takeOptions("what a chat is given beside the message", chatFields, options);
}

/** The reader of a stream. Leaving it after the turn is over aborts nothing. */
class Reader {
  readonly #controller = new AbortController();
  #stopFollowing: (() => void) | undefined;
  #isOver = false;
  #isLeft = false;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Fires with the caller's signal. `AbortSignal.any` would leave a trace on it, which may outlive many streams. */
  follow(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const end = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) end();
    this.#stopFollowing = onAbort(signal, end);
  }

  over(): void {
    this.#isOver = true;
    this.#stopFollowing?.();
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isLeft = true;
    this.#controller.abort(new TurnkeepError("ABORTED", "The stream was left before its end."));
  }
}

type SystemMessageOf<M> = (memoryId: string) => string | M | undefined | Promise<string | M | undefined>;

class MemoryAssistant<M> implements Assistant<M> {
  readonly #setup: Setup<M>;

  constructor(setup: Setup<M>) {
    this.#setup = setup;
  }

  async chat(said: string | M | Approvals, options: ChatOptions = {}): Promise<ChatResult<M>> {
    checkChat(options);
    return this.#turn(said, options, options.signal ?? new AbortController().signal, undefined);
  }

  stream(said: string | M | Approvals, options: ChatOptions = {}): AsyncIterableIterator<ChatEvent<M>> {
    const reader = new Reader();
    const events = this.#events(said, options, reader);
    const end = events.return.bind(events);
    // While a generator waits for an event, `return` reaches it only after that event.
    events.return = (value) => {
      reader.leave();
      return end(value);
    };
    return events;
  }

  async *#events(
    said: string | M | Approvals,
    options: ChatOptions,
    reader: Reader,
  ): AsyncGenerator<ChatEvent<M>, void> {
    checkChat(options);
    reader.follow(options.signal);
    const queue = new EventQueue<ChatEvent<M>>();
    const turn = this.#turn(said, options, reader.signal, (event) => queue.push(event));
    const over = (): void => {
      reader.over();
      queue.end();
    };
    // A rejection is thrown below, unless nobody reads any more.
    turn.then(over, over);
    try {
      yield* queue.values();
      if (!reader.isLeft) yield { type: "finish", result: await turn };
    } finally {
      reader.leave();
      // Whatever must be taken back is, before the reader that left goes on.
      await turn.catch(() => undefined);
    }
  }

  async #turn(
    said: string | M | Approvals,
    options: ChatOptions,
    signal: AbortSignal,
    emit: ((event: ChatEvent<M>) => void) | undefined,
  ): Promise<ChatResult<M>> {
    const { id } = options;
    const { memory, memoryId } = this.#memoryOf(options);
    const responses = isApprovals(said) ? responsesOf(said) : undefined;
    const user = isApprovals(said) ? undefined : this.#userMessage(said, memory);
    if (user === undefined && id === undefined)
      throw wrongOption("id", id, "the id of the message whose turn waits for these approvals");
    const run = async (signal: AbortSignal): Promise<ChatResult<M>> => {
      // Approvals go on with a turn, whose system message was set when it began.
      const system = user && (await orAborted(this.#systemMessage(memoryId, memory), signal));
      return new Turn(this.#setup, { memory, memoryId, system, user, responses, id, signal, emit }).run();
    };
    const { timeoutMs } = this.#setup;
    const timed = (signal: AbortSignal): Promise<ChatResult<M>> => withTimeout(timeoutMs, signal, run);
    return whileFree(memory, this.#setup, signal, timed);
  }

  #memoryOf(options: ChatOptions): { readonly memory: ChatMemory<M>; readonly memoryId: string } {
    const { memoryId: id, owner } = options;
    const { memory: one, memories } = this.#setup;
    if (memories !== undefined) {
      if (typeof id !== "string") {
        throw wrongOption("memoryId", id, "the id of a memory: without it, all users would share one");
      }
      const asked = "owner" in options ? { owner: owner as string } : undefined;
      return { memory: memories.get(id, asked), memoryId: id };
    }
    if (owner !== undefined)
      throw wrongOption("owner", owner, "left out: it chooses among memories, and this assistant has one");
    if (one === undefined) {
      const memory = createChatMemory<ModelMessageLike>({ id }) as unknown as ChatMemory<M>;
      return { memory, memoryId: memory.id };
    }
    if (id !== undefined && id !== one.id) {
      throw wrongOption(
        "memoryId",
        id,
        `${quoted(one.id)}, the id of the one memory that this assistant has`,
      );
    }
    return { memory: one, memoryId: one.id };
  }

  #userMessage(message: string | M, { format }: ChatMemory<M>): M {
    const isBlank = typeof message === "string" && message.trim() === "";
    if (typeof message === "string" && !isBlank) return this.#setup.messages.user(message);
    const isUsers = typeof message === "object" && message !== null && format.role(message) === "user";
    // Providers refuse an empty message.
    if (isUsers && !format.isEmpty(message)) return message;
    const expected = "text that is not blank, a message of the user that is not empty, or { approvals }";
    throw wrongOption("message", message, expected);
  }

  async #systemMessage(memoryId: string, { format }: ChatMemory<M>): Promise<M | undefined> {
    const given = this.#setup.systemMessage;
    const message: string | M | undefined =
      typeof given === "function"
        ? await (given as SystemMessageOf<M>)(memoryId)
        : (given as string | M | undefined);
    if (message === undefined || message === null) return undefined;
    if (typeof message === "string") {
      checkNotBlank(message);
      return this.#setup.messages.system(message);
    }
    if (format.role(message) === "system") return message;
    throw wrongOption("systemMessage", message, "text, a system message, or a function that answers one");
  }
}
