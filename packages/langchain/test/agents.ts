import type { BaseMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type ChatMemoryStore, createChatMemories, inMemoryStore, type WindowOptions } from "@turnkeep/core";
import { openai, validate } from "@turnkeep/formats/profiles";
import { AIMessage, createAgent, tool } from "langchain";
import { expect } from "vitest";
import { z } from "zod";
import { langchainFormat } from "../src/index.ts";
import { turnkeepMiddleware } from "../src/middleware.ts";

export type Memories = ReturnType<typeof memoriesOf>;

export const memoriesOf = (
  window: WindowOptions<BaseMessage> = { maxMessages: 100 },
  store: ChatMemoryStore = inMemoryStore(),
) => createChatMemories({ store, format: langchainFormat, window });

export const thread = (id = "chat-1") => ({ configurable: { thread_id: id } });

export const calling = (...names: string[]): AIMessage =>
  new AIMessage({
    content: "",
    tool_calls: names.map((name) => ({ id: `${name}-${++calls}`, name, args: {}, type: "tool_call" })),
  });
let calls = 0;

export type Reply = (messages: BaseMessage[]) => BaseMessage;

/** A model that answers these, one after the other, and keeps what it was asked. */
export function modelOf(...replies: (BaseMessage | Reply)[]) {
  const model = fakeModel();
  for (const reply of replies) {
    if (typeof reply === "function") model.respond(reply);
    else model.respond(reply);
  }
  /** The messages of each request, each list one that a provider accepts. */
  const prompts = (): BaseMessage[][] => {
    const lists = model.calls.map(({ messages }) => messages);
    for (const list of lists) expect(validate(list, openai, { format: langchainFormat })).toEqual([]);
    return lists;
  };
  return { model, prompts };
}

export const toolOf = (name: string, run: () => unknown = () => `${name} done`) =>
  tool(async () => run(), { name, description: name, schema: z.object({}) });

/** What is stored, as `type: text`. */
export async function recorded(memories: Memories, id = "chat-1"): Promise<string[]> {
  const { messages } = await memories.get(id).history({ states: ["live", "evicted"], limit: 1000 });
  return messages.map(({ message }) => told(message));
}

export function told(message: BaseMessage): string {
  const { tool_calls: asked = [] } = message as AIMessage;
  const names = asked.map(({ name }) => name).join(" ");
  return `${message.type}: ${message.text}${names && `[${names}]`}`;
}

/** An agent over these memories. */
export const agentOf = (
  memories: Memories,
  options: Partial<Parameters<typeof createAgent>[0]> & { model: unknown; first?: readonly unknown[] },
) => {
  const { first = [], ...rest } = options;
  return createAgent({
    ...rest,
    middleware: [...first, turnkeepMiddleware({ memories })],
  } as never);
};
