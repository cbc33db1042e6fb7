import { createChatMemory, inMemoryStore, type ModelMessage, type TokenCounter } from "@turnkeep/core";
import { applyProcessors, tokenLimiter } from "@turnkeep/core/processors";
import { mean } from "../measure.ts";

/** What every contender is given: a conversation so far, and how tokens are counted. */
export interface Conversation {
  readonly messages: readonly ModelMessage[];
  /** What each of them counts, known before anything is measured. */
  readonly counts: readonly number[];
  readonly maxTokens: number;
  /** A message as it is framed for OpenAI's chat models. */
  count(message: ModelMessage): number;
  countText(text: string): number;
}

/** One conversation of one contender. */
export interface Opened {
  /** A message in the contender's own form; not measured. */
  convert(message: ModelMessage): unknown;
  /** Adds a message, reads the view, and answers how many messages it has. */
  step(message: unknown): number | Promise<number>;
}

/** One way to keep a conversation and to read what fits. */
export interface Contender {
  readonly name: string;
  open(conversation: Conversation): Opened | Promise<Opened>;
}

const counterOf = ({ count }: Conversation): TokenCounter => ({
  name: "o200k",
  count: (message) => count(message as ModelMessage),
});

const memoryIn = (place: "inMemoryStore" | "no store"): Contender => ({
  name: `turnkeep, ${place}`,
  async open(conversation) {
    const { messages, maxTokens } = conversation;
    const window = { maxTokens, counter: counterOf(conversation) };
    const memory =
      place === "no store"
        ? createChatMemory({ window })
        : createChatMemory({ id: "conversation", store: inMemoryStore(), window });
    for (let at = 0; at < messages.length; at += 500) await memory.add(...messages.slice(at, at + 500));
    return {
      convert: (message) => message,
      async step(message) {
        await memory.add(message as ModelMessage);
        return (await memory.messages()).length;
      },
    };
  },
});

/** Our processor over a list that the application keeps itself, as peers' are used; its messages are frozen. */
const limiter: Contender = {
  name: "turnkeep, tokenLimiter",
  async open(conversation) {
    const list = conversation.messages.map(frozen);
    const processors = [tokenLimiter({ limit: conversation.maxTokens, counter: counterOf(conversation) })];
    await applyProcessors(list, processors);
    return {
      convert: frozen,
      async step(message) {
        list.push(message as ModelMessage);
        return (await applyProcessors(list, processors)).length;
      },
    };
  },
};

function frozen(message: ModelMessage): ModelMessage {
  return deepFreeze(structuredClone(message));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

/** The least work that shows the same: the counts of all messages in an array, summed from the newest one. */
const floor: Contender = {
  name: "floor",
  open({ messages, counts, maxTokens, count }) {
    const list = [...messages];
    const known = [...counts];
    return {
      convert: (message) => message,
      step(message) {
        list.push(message as ModelMessage);
        known.push(count(message as ModelMessage));
        let from = list.length;
        for (let room = maxTokens; from > 0; from--) {
          room -= known[from - 1] ?? 0;
          if (room < 0) break;
        }
        return list.slice(from).length;
      },
    };
  },
};

/** The same where every message counts as much, so that no time goes into counting. */
export function withFreeCounter(contender: Contender): Contender {
  return {
    name: `${contender.name}, free counter`,
    open(conversation) {
      const { counts } = conversation;
      const tokens = Math.round(mean(counts));
      return contender.open({ ...conversation, counts: counts.map(() => tokens), count: () => tokens });
    },
  };
}

export const ours: Contender = memoryIn("inMemoryStore");
/** What is measured beside it and is no peer. */
export const others: readonly Contender[] = [memoryIn("no store"), limiter];
export { floor };
