import { createChatMemory, inMemoryStore, type ModelMessage } from "@turnkeep/core";

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

const memoryIn = (place: "inMemoryStore" | "no store"): Contender => ({
  name: `turnkeep, ${place}`,
  async open({ messages, maxTokens, count }) {
    const window = {
      maxTokens,
      counter: { name: "o200k", count: (message: unknown) => count(message as ModelMessage) },
    };
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

export const ours: Contender = memoryIn("inMemoryStore");
export const oursAlone: Contender = memoryIn("no store");
export { floor };
