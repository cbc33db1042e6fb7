import {
  type ChatMemoryStore,
  createChatMemory,
  type MemoryUpdate,
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
  user,
} from "@turnkeep/core";
import { strict, validate } from "@turnkeep/formats/profiles";
import { type ChatResult, createAssistant, type Model, type Tools, tool } from "../src/index.ts";
import { assistant, calling } from "./script.ts";

/** Called before and after everything that a turn waits for; it never returns once the process is dead. */
export type Tick = (what: string) => Promise<void>;

export const question = "Book the room and a taxi.";
export const questionId = "q-1";

/** What the tools have done, told apart by call. */
export type OnRun = (toolCallId: string) => void;

export interface Ask {
  readonly store: ChatMemoryStore;
  readonly tick: Tick;
  readonly onRun: OnRun;
  readonly idempotent: boolean;
  /** Whether the memory shapes its view for every provider at once. */
  readonly isShaped: boolean;
  /** Every request that the model was sent. */
  readonly requests: ModelMessage[][];
  /** Default 100, within which a store in this process always answers. */
  readonly leaseMs?: number;
  readonly id?: string;
  readonly text?: string;
}

/** A turn with two tools at once and a third behind them, over a store that may die at any call. */
export function ask({
  store,
  tick,
  onRun,
  idempotent,
  isShaped,
  requests,
  leaseMs = 100,
  id,
  text,
}: Ask): Promise<ChatResult<ModelMessage>> {
  const memory = createChatMemory({
    id: "chat",
    store: ticking(store, tick),
    window: { maxMessages: 50 },
    profile: isShaped ? strict : undefined,
  });
  const work = tool({
    inputSchema: {},
    idempotent,
    execute: async (_, { toolCallId }) => {
      await tick(`before ${toolCallId}`);
      onRun(toolCallId);
      await tick(`behind ${toolCallId}`);
      return `result of ${toolCallId}`;
    },
  });
  const tools: Tools = { room: work, taxi: work, mail: work };
  const chat = createAssistant({
    model: travelAgent(tick, requests),
    memory,
    tools,
    systemMessage: "Be kind.",
    leaseMs,
  });
  return chat.chat(text ?? question, { id: id ?? questionId });
}

/** Answers by what it is sent: calls two tools at once, then a third, then says so. It knows no process. */
function travelAgent(tick: Tick, requests: ModelMessage[][]): Model<ModelMessage> {
  return async ({ messages }) => {
    requests.push(structuredClone(messages) as ModelMessage[]);
    await tick("before the model");
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const rounds = messages.slice(asked).filter(({ role }) => role === "assistant").length;
    const message =
      messages[asked]?.content !== question || rounds === 2
        ? assistant("Done.")
        : rounds === 1
          ? calling(["call-mail", "mail"])
          : calling(["call-room", "room"], ["call-taxi", "taxi"]);
    await tick("behind the model");
    return { message };
  };
}

export function ticking(store: ChatMemoryStore, tick: Tick): ChatMemoryStore {
  const methods = new Set(["getMessages", "updateMessages", "deleteMessages", "getHistory"]);
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (!methods.has(String(name))) return method;
      return async (...args: unknown[]) => {
        const what = isOfLease(args[1]) ? "the lease" : String(name);
        await tick(`before ${what}`);
        const result = await method(...args);
        await tick(`behind ${what}`);
        return result;
      };
    },
  });
}

/** How often a lease is renewed depends on how fast the machine is. */
function isOfLease(given: unknown): boolean {
  const { append, replace, move } = (given ?? {}) as Partial<MemoryUpdate>;
  return append?.length === 0 && replace?.length === 0 && move?.length === 0;
}

/** What is stored, looked at from outside. */
export interface Stored {
  readonly messages: ModelMessage[];
  /** Each result that was ever stored, as text. */
  readonly results: string[];
  /** How often the question was stored. */
  readonly questions: number;
  readonly answers: number;
}

export async function lookAt(store: ChatMemoryStore): Promise<Stored> {
  const memory = createChatMemory({ id: "chat", store });
  const { messages: kept } = await memory.history();
  const messages = await memory.messages();
  return {
    messages,
    results: kept.flatMap(({ message }) =>
      modelMessageFormat.toolResults(message).length > 0 ? [JSON.stringify(message.content)] : [],
    ),
    answers: kept.filter(({ message }) => message.content === "Done.").length,
    questions: kept.filter(
      ({ message }) => message.role === "user" && message.content === user(question).content,
    ).length,
  };
}

/** What a provider with every rule at once refuses in a request. */
export function refusals(messages: readonly ModelMessage[]): string[] {
  const found = validate<ModelMessageLike>(messages, strict, { format: modelMessageFormat });
  return found.map(({ rule, index, problem }) => `${rule} at ${index}: ${problem}`);
}

/** The same of a list that no profile has shaped: calls and results fit together, whatever else it asks. */
export function unpaired(messages: readonly ModelMessage[]): string[] {
  return refusals(messages).filter((text) => /^(?:tool-results|not-empty|system-first) /.test(text));
}
