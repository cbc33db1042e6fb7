import { randomUUID } from "node:crypto";
import {
  type ChatMemoryStore,
  createChatMemory,
  isTurnkeepError,
  type MemorySnapshot,
  type ModelMessage,
  type TokenCounter,
  type WindowOptions,
} from "@turnkeep/core";
import type { Contender, Window } from "./contender.ts";

const fillBatch = 500;

/** A memory over that store, with the window's defaults. */
export function ours(store: ChatMemoryStore, counter: TokenCounter): Contender {
  function open(conversation: string, window: Window) {
    const state = { evicted: false };
    const memory = createChatMemory({
      id: `${conversation} ${Object.values(window)[0]} ${Object.keys(window)[0]}`,
      store,
      window: windowOptions(window, counter),
      timeoutMs: 600_000,
      onEvent: ({ type }) => {
        if (type === "evicted") state.evicted = true;
      },
    });
    return { memory, state };
  }
  return {
    name: "turnkeep",
    kind: "ours",
    async fill(conversation, messages, window) {
      const { memory } = open(conversation, window);
      for (let from = 0; from < messages.length; from += fillBatch) {
        await memory.add(...messages.slice(from, from + fillBatch));
      }
    },
    open(conversation, window) {
      const { memory, state } = open(conversation, window);
      return {
        async append(message) {
          state.evicted = false;
          await memory.add(message);
          return state.evicted;
        },
        read: () => memory.messages(),
      };
    },
    store: storeAlone(store),
    close: () => store.close(),
  };
}

/** Sends the store what a memory sends it, made by hand; nothing leaves. */
function storeAlone(store: ChatMemoryStore): Contender {
  async function add(id: string, state: MemorySnapshot, messages: readonly ModelMessage[]): Promise<void> {
    const version = randomUUID();
    const append = messages.map((message, index) => ({
      id: randomUUID(),
      seq: state.nextSeq + index,
      createdAt: Date.now(),
      payload: JSON.stringify(message),
      meta: '{"tokens":{"o200k_base":100}}',
    }));
    const nextSeq = state.nextSeq + append.length;
    const change = { expected: state.version, version, nextSeq, append, replace: [], move: [] };
    await store.updateMessages(id, change);
    Object.assign(state, { version, nextSeq });
  }
  return {
    name: "turnkeep, the store alone",
    kind: "ours",
    async fill(conversation, messages) {
      await add(`${conversation} alone`, { version: null, nextSeq: 1, messages: [] }, messages);
    },
    open(conversation) {
      const id = `${conversation} alone`;
      let state: MemorySnapshot | undefined;
      const read = async (): Promise<readonly unknown[]> => {
        const known = state?.version ?? undefined;
        const snapshot = await store.getMessages(id, { known });
        if (snapshot.unchanged !== true) state = snapshot;
        return state?.messages ?? [];
      };
      return {
        async append(message) {
          for (;;) {
            if (state === undefined) await read();
            try {
              await add(id, state as MemorySnapshot, [message]);
              return false;
            } catch (error) {
              if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
              state = undefined;
            }
          }
        },
        read,
      };
    },
    async close() {},
  };
}

function windowOptions(window: Window, counter: TokenCounter): WindowOptions<ModelMessage> {
  return "messages" in window ? { maxMessages: window.messages } : { maxTokens: window.tokens, counter };
}

/** How many messages our window shows while a conversation grows, on average: what a floor has to read. */
export async function rowsShown(
  messages: readonly ModelMessage[],
  window: Window,
  counter: TokenCounter,
): Promise<number> {
  const memory = createChatMemory({ window: windowOptions(window, counter) });
  const lengths: number[] = [];
  for (const message of messages) {
    await memory.add(message);
    lengths.push((await memory.messages()).length);
  }
  const grown = lengths.slice(Math.floor(lengths.length / 2));
  return Math.round(grown.reduce((sum, length) => sum + length, 0) / grown.length);
}
