import type { BaseMessage } from "@langchain/core/messages";
import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  type ChatMemories,
  type ChatMemoryStore,
  createChatMemories,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { openai, validate } from "@turnkeep/formats/profiles";
import { AIMessage, type AnyAgentMiddleware, createAgent, type ReactAgent, tool } from "langchain";
import { expect } from "vitest";
import { z } from "zod";
import { langchainFormat } from "../src/index.ts";
import { turnkeepMiddleware } from "../src/middleware.ts";

type Memories = ChatMemories<BaseMessage>;

export function memoriesOf(
  window: WindowOptions<BaseMessage> = { maxMessages: 100 },
  store: ChatMemoryStore = inMemoryStore(),
): Memories {
  return createChatMemories({ store, format: langchainFormat, window });
}

export function thread(id = "chat-1"): { configurable: { thread_id: string } } {
  return { configurable: { thread_id: id } };
}

let calls = 0;

export function calling(...names: string[]): AIMessage {
  return new AIMessage({
    content: "",
    tool_calls: names.map((name) => ({ id: `${name}-${++calls}`, name, args: {}, type: "tool_call" })),
  });
}

type Reply = (messages: BaseMessage[]) => BaseMessage | Error;

interface Model {
  readonly model: FakeBuiltModel;
  /** The messages of each request, each list one that a provider accepts. */
  prompts(): BaseMessage[][];
}

/** A model that answers these, one after the other, and keeps what it was asked. */
export function modelOf(...replies: (BaseMessage | Reply)[]): Model {
  const model = fakeModel();
  for (const reply of replies) {
    if (typeof reply === "function") model.respond(reply);
    else model.respond(reply);
  }
  const prompts = (): BaseMessage[][] => {
    const lists = model.calls.map(({ messages }) => messages);
    for (const list of lists) expect(validate(list, openai, { format: langchainFormat })).toEqual([]);
    return lists;
  };
  return { model, prompts };
}

export function toolOf(name: string, run: () => unknown = () => `${name} done`): StructuredToolInterface {
  return tool(async () => run(), { name, description: name, schema: z.object({}) });
}

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

interface AgentOptions {
  readonly model: object;
  readonly tools?: readonly StructuredToolInterface[];
  readonly systemPrompt?: string;
  readonly checkpointer?: object;
  readonly responseFormat?: object;
  /** What stands around the bridge's own. */
  readonly first?: readonly AnyAgentMiddleware[];
  readonly last?: readonly unknown[];
}

/** An agent over these memories. */
export function agentOf(memories: Memories, { first = [], last = [], ...options }: AgentOptions): ReactAgent {
  const middleware = [...first, turnkeepMiddleware({ memories }), ...last];
  return createAgent({ ...options, middleware } as never);
}
