import {
  type AnyTextAdapter,
  type ChatMiddleware,
  chat,
  type ModelMessage,
  type StreamChunk,
  type Tool,
  toolDefinition,
  type UIMessage,
} from "@tanstack/ai";
import { BaseTextAdapter } from "@tanstack/ai/adapters";
import {
  type ChatMemories,
  type ChatMemoryStore,
  createChatMemories,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { expect } from "vitest";
import { z } from "zod";
import { tanstackFormat, turnkeepMiddleware } from "../src/index.ts";

export type Memories = ChatMemories<ModelMessage>;

export function memoriesOf(
  window: WindowOptions<ModelMessage> = { maxMessages: 100 },
  store: ChatMemoryStore = inMemoryStore(),
): Memories {
  return createChatMemories({ store, format: tanstackFormat, window });
}

export interface Answer {
  readonly text?: string;
  readonly thinking?: string;
  /** Names of tools, and the id of each call. */
  readonly calls?: readonly (readonly [name: string, id: string])[];
  /** The provider fails behind it. */
  readonly fails?: Error;
  /** Called between the text and the end. */
  readonly before?: () => unknown;
}

type Reply = Answer | ((messages: readonly ModelMessage[]) => Answer);

interface Structured {
  readonly chatOptions: { readonly messages: ModelMessage[] };
}

let count = 0;

export function calling(...names: string[]): Answer {
  return { calls: names.map((name) => [name, `${name}-${++count}`] as const) };
}

export const saying = (text: string): Answer => ({ text });

/** An adapter whose model answers these, one after the other, and keeps what it was asked. */
export class Scripted extends BaseTextAdapter<"scripted", object, readonly ["text"], never> {
  readonly name = "scripted";
  readonly requests: ModelMessage[][] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    super({}, "scripted");
    this.#replies = replies;
  }

  /** Each is one that a provider accepts: whole pairs, and a question before the answer. */
  prompts(): string[][] {
    for (const request of this.requests) {
      const calls = request.flatMap((message) => tanstackFormat.toolCalls(message).map(({ id }) => id));
      const results = request.flatMap((message) => tanstackFormat.toolResults(message).map(({ id }) => id));
      expect(results).toEqual(calls);
    }
    return this.requests.map((messages) => messages.map(told));
  }

  override async *chatStream({ messages }: { readonly messages: ModelMessage[] }): AsyncGenerator<never> {
    this.requests.push(structuredClone(messages));
    const reply = this.#replies.shift() ?? saying("Nothing more.");
    const {
      text,
      thinking,
      calls = [],
      fails,
      before,
    } = typeof reply === "function" ? reply(messages) : reply;
    const messageId = `answer-${++count}`;
    const run = { runId: "run", threadId: "thread", timestamp: 0 };
    yield { type: "RUN_STARTED", ...run } as never;
    if (thinking !== undefined) {
      yield { type: "REASONING_MESSAGE_CONTENT", messageId, delta: thinking } as never;
      yield {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: messageId,
        encryptedValue: "c2ln",
      } as never;
    }
    if (text !== undefined) {
      yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" } as never;
      for (const delta of text.split(/(?<= )/))
        yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta } as never;
      yield { type: "TEXT_MESSAGE_END", messageId } as never;
    }
    await before?.();
    if (fails !== undefined) throw fails;
    for (const [toolCallName, toolCallId] of calls) {
      yield { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId: messageId } as never;
      yield { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" } as never;
      yield { type: "TOOL_CALL_END", toolCallId } as never;
    }
    const finishReason = calls.length > 0 ? "tool_calls" : "stop";
    yield { type: "RUN_FINISHED", ...run, finishReason, metadata: { tanstack: { finishReason } } } as never;
  }

  override async structuredOutput({ chatOptions }: Structured): Promise<{ data: unknown; rawText: string }> {
    this.requests.push(structuredClone(chatOptions.messages));
    const { text: rawText = "" } = this.#replies.shift() as Answer;
    return { data: JSON.parse(rawText), rawText };
  }
}

export function toolOf(name: string, run: () => unknown = () => `${name} done`): Tool {
  return toolDefinition({ name, description: name, inputSchema: z.object({}) }).server(
    async () => run() as never,
  ) as unknown as Tool;
}

/** A run of two tools, one after the other. */
export const both: Tool[] = [toolOf("first"), toolOf("second")];
export const working = (): Scripted => new Scripted(calling("first"), calling("second"), saying("Done."));
export const worked: readonly string[] = [
  ...["assistant: [first]", "(first done)", "assistant: [second]", "(second done)", "assistant: Done."],
];

type Given = readonly (ModelMessage | UIMessage)[];

interface Asked {
  readonly adapter: object;
  readonly tools?: readonly Tool[];
  readonly threadId?: string;
  readonly first?: readonly ChatMiddleware[];
  readonly last?: readonly ChatMiddleware[];
  readonly [option: string]: unknown;
}

/** Runs `chat` over these memories to its end, with a question or these messages, and answers its chunks. */
export async function ask(
  memories: Memories,
  messages: string | Given,
  { first = [], last = [], threadId = "chat-1", ...options }: Asked,
): Promise<StreamChunk[]> {
  const stream = chat({
    debug: false,
    ...options,
    threadId,
    adapter: options.adapter as AnyTextAdapter,
    messages: typeof messages === "string" ? [question(messages)] : [...messages],
    middleware: [...first, turnkeepMiddleware({ memories }), ...last],
  } as never) as unknown as AsyncIterable<StreamChunk>;
  const chunks: StreamChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

export function question(content: string, id?: string): ModelMessage {
  return { role: "user", content, ...(id === undefined ? {} : { id }) };
}

/** What the memory holds and has not taken back. */
export async function record(memories: Memories, id = "chat-1"): Promise<ModelMessage[]> {
  const { messages } = await memories.get(id).history({ states: ["live", "evicted"], limit: 1000 });
  return messages.map(({ message }) => message);
}

export async function recorded(memories: Memories, id?: string): Promise<string[]> {
  return (await record(memories, id)).map(told);
}

/** A message in short. */
export function told({ role, content, toolCalls = [] }: ModelMessage): string {
  const names = toolCalls.map(({ function: { name } }) => `[${name}]`).join("");
  const text = typeof content === "string" ? content : JSON.stringify(content ?? "").slice(1, -1);
  return role === "tool" ? `(${text})` : `${role}: ${text}${names}`;
}
