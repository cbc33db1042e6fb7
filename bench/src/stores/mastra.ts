import { type ModelMessage, modelMessageFormat, type TokenCounter } from "@turnkeep/core";
import type { Contender, Conversation, Window } from "./contender.ts";

/** What is used of a `MastraDBMessage`. */
interface MastraMessage {
  readonly id: string;
  readonly threadId: string;
  readonly resourceId: string;
  readonly role: "system" | "user" | "assistant";
  readonly type: "v2";
  readonly createdAt: Date;
  readonly content: { readonly format: 2; readonly parts: readonly object[] };
}

/** What is used of a Mastra store's `getStore("memory")`. */
export interface MastraMemoryStorage {
  saveThread(request: { thread: object }): Promise<unknown>;
  saveMessages(request: { messages: MastraMessage[] }): Promise<unknown>;
  listMessages(query: {
    threadId: string;
    resourceId: string;
    page: number;
    perPage: number;
    orderBy: { field: "createdAt"; direction: "DESC" };
    includeTotal: false;
  }): Promise<{ readonly messages: object[] }>;
}

/** What is used of a Mastra store. */
export interface MastraStore {
  init(): Promise<void>;
  getStore(name: "memory"): Promise<MastraMemoryStorage>;
  close(): Promise<void>;
}

/** What is used of `@mastra/core`. */
export interface MastraCore {
  readonly MessageList: new (of: { threadId: string; resourceId: string }) => MastraMessageList;
  readonly MessageHistory: new (options: {
    storage: MastraMemoryStorage;
    tokenLimit: { maxTokens: number; atMaxRemoveTokens: number };
    tokenCounter: { countMessage(message: MastraMessage): number };
  }) => { processInput(request: { messages: []; messageList: MastraMessageList }): Promise<unknown> };
}

interface MastraMessageList {
  readonly get: { readonly all: { db(): readonly MastraMessage[] } };
}

const resourceId = "benchmark";
const fillBatch = 1_000;

/** Whoever saves: a message is later than any before it, since Mastra orders by time. */
let saved = 0;
const began = Date.now();
const counts = new Map<string, number>();

/**
 * Mastra's storage. The last 20: `listMessages` with the arguments of its own processor `MessageHistory`, which asks for
 * no total. 4,000 tokens: that processor itself with `tokenLimit`, at its default of removing a quarter, and exact counts
 * that are kept by message id.
 */
export function mastra(
  name: string,
  { MessageHistory, MessageList }: MastraCore,
  storage: MastraMemoryStorage,
  counter: TokenCounter,
  close: () => Promise<void>,
): Contender {
  const filled = new Set<string>();
  function toMastra(conversation: string, message: ModelMessage): MastraMessage {
    const number = saved++;
    const id = `${conversation}-${number}`;
    counts.set(id, counter.count(message, modelMessageFormat));
    return {
      id,
      threadId: conversation,
      resourceId,
      role: message.role === "tool" ? "assistant" : message.role,
      type: "v2",
      createdAt: new Date(began + number),
      content: { format: 2, parts: partsOf(message) },
    };
  }
  return {
    name,
    kind: "peer",
    async fill(conversation, messages) {
      if (filled.has(conversation)) return;
      filled.add(conversation);
      const now = new Date();
      await storage.saveThread({
        thread: {
          id: conversation,
          resourceId,
          title: "",
          metadata: {},
          createdAt: now,
          updatedAt: now,
        },
      });
      for (let from = 0; from < messages.length; from += fillBatch) {
        const batch = messages.slice(from, from + fillBatch);
        await storage.saveMessages({ messages: batch.map((message) => toMastra(conversation, message)) });
      }
    },
    open(conversation, window): Conversation {
      return {
        async append(message) {
          await storage.saveMessages({ messages: [toMastra(conversation, message)] });
          return false;
        },
        read: () => read(conversation, window),
      };
    },
    close,
  };

  async function read(threadId: string, window: Window): Promise<readonly unknown[]> {
    if ("messages" in window) {
      const { messages } = await storage.listMessages({
        threadId,
        resourceId,
        page: 0,
        perPage: window.messages,
        orderBy: { field: "createdAt", direction: "DESC" },
        includeTotal: false,
      });
      return messages.reverse();
    }
    const history = new MessageHistory({
      storage,
      tokenLimit: { maxTokens: window.tokens, atMaxRemoveTokens: window.tokens / 4 },
      tokenCounter: { countMessage: ({ id }) => counts.get(id) ?? 0 },
    });
    const messageList = new MessageList({ threadId, resourceId });
    await history.processInput({ messages: [], messageList });
    return messageList.get.all.db();
  }
}

/** As Mastra keeps them: a call and its result are states of one kind of part. */
function partsOf({ content }: ModelMessage): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part): object => {
    if (part.type === "tool-call") {
      const { toolCallId, toolName, input: args } = part;
      return { type: "tool-invocation", toolInvocation: { state: "call", toolCallId, toolName, args } };
    }
    if (part.type === "tool-result") {
      const { toolCallId, toolName, output: result } = part;
      return {
        type: "tool-invocation",
        toolInvocation: { state: "result", toolCallId, toolName, args: {}, result },
      };
    }
    return part;
  });
}
