/** Compiled by the type check, never run: what an assistant infers and refuses. */

import type Anthropic from "@anthropic-ai/sdk";
import {
  type ChatMemory,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
} from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import type { LanguageModel as LanguageModel6, ModelMessage as ModelMessage6 } from "ai6";
import type { LanguageModel as LanguageModel7, ModelMessage as ModelMessage7 } from "ai7";
import type OpenAI from "openai";
import { z } from "zod";
import { aiSdkModel } from "../../src/ai-sdk.ts";
import { anthropicMessages } from "../../src/anthropic.ts";
import {
  type ApprovalRequest,
  type ApprovalResponse,
  type AssistantError,
  type AssistantMessages,
  type ChatOptions,
  type ChatResult,
  createAssistant,
  isAssistantError,
  type Model,
  type Tools,
  tool,
} from "../../src/index.ts";
import { openaiMessages } from "../../src/openai.ts";
import { openaiCompatible, openaiCompatibleChat } from "../../src/openai-compatible.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void => undefined;

declare const sdk7: LanguageModel7;
declare const sdk6: LanguageModel6;
declare const server: { readonly baseUrl: string; readonly model: string };

export async function theMemoryDecidesTheType(): Promise<void> {
  const seven = createAssistant({
    model: aiSdkModel({ model: sdk7 }),
    memory: createChatMemory<ModelMessage7>(),
  });
  same<Awaited<ReturnType<typeof seven.chat>>, ChatResult<ModelMessage7>>();
  const six = createAssistant({
    // The majors' models are not assignable to each other; an application has one of them.
    model: aiSdkModel({ model: sdk6 as unknown as LanguageModel7 }),
    memory: createChatMemory<ModelMessage6>(),
  });
  same<Awaited<ReturnType<typeof six.chat>>, ChatResult<ModelMessage6>>();
  const own = createAssistant({ model: openaiCompatible(server), memory: createChatMemory() });
  same<Awaited<ReturnType<typeof own.chat>>, ChatResult<ModelMessage>>();
  const none = createAssistant({ model: openaiCompatible(server) });
  same<Awaited<ReturnType<typeof none.chat>>, ChatResult<ModelMessage>>();
}

export function aModelOfItsOwn(): void {
  const model = openaiCompatible(server);
  same<typeof model, Model<ModelMessage>>();
  const sdk = aiSdkModel({ model: sdk7 });
  same<typeof sdk, Model<ModelMessage>>();
  createAssistant({ model, memory: createChatMemory() });
  createAssistant({ model: sdk, memory: createChatMemory<ModelMessage7>() });
}

export function perhapsNoMemory(
  model: Model<ModelMessage>,
  memory: ChatMemory<ModelMessage> | undefined,
  messages: AssistantMessages<ModelMessage> | undefined,
): void {
  createAssistant({ model, memory });
  createAssistant({ model, memory, messages });
  createAssistant({ model, ...(memory && { memory }) });
  createAssistant({ model, memory: undefined, memories: undefined, messages: undefined });
}

export async function otherFormats(chatModel: Model<ChatMessage>): Promise<void> {
  const chat = createAssistant({
    model: openaiCompatibleChat(server),
    memory: createChatMemory({ format: openaiFormat }),
    messages: openaiMessages<ChatMessage>(),
  });
  same<Awaited<ReturnType<typeof chat.chat>>, ChatResult<ChatMessage>>();
  createAssistant({
    model: openaiCompatibleChat(server),
    memory: createChatMemory<OpenAI.ChatCompletionMessageParam>({ format: openaiFormat }),
    messages: openaiMessages<OpenAI.ChatCompletionMessageParam>(),
  });
  createAssistant({
    model: async () => ({ message: { role: "assistant", content: "Hi" } }),
    memory: createChatMemory({ format: anthropicFormat }),
    messages: anthropicMessages<AnthropicMessage>(),
  });
  createAssistant({
    model: async () => ({ message: { role: "assistant", content: "Hi" } }),
    memory: createChatMemory<Anthropic.MessageParam>({ format: anthropicFormat }),
    messages: anthropicMessages<Anthropic.MessageParam>(),
  });
  const memory = createChatMemory({ format: openaiFormat });
  // @ts-expect-error a memory of another format needs to know how its messages are made
  createAssistant({ model: chatModel, memory });
  // @ts-expect-error messages of another format than the memory's
  createAssistant({ model: chatModel, memory, messages: anthropicMessages<AnthropicMessage>() });
}

export async function manyMemories(): Promise<void> {
  const memories = createChatMemories({ store: inMemoryStore() });
  const chat = createAssistant({ model: openaiCompatible(server), memories });
  await chat.chat("Hi", { memoryId: "a" });
  for await (const event of chat.stream("Hi", { memoryId: "a", id: "q-1" })) {
    if (event.type === "finish") same<typeof event.result, ChatResult<ModelMessage>>();
  }
  // @ts-expect-error without an id all users would share a memory
  await chat.chat("Hi");
  // @ts-expect-error the same
  await chat.chat("Hi", { id: "q-1" });
  // @ts-expect-error one memory or many
  createAssistant({ model: openaiCompatible(server), memories, memory: createChatMemory() });
}

export async function messages(model: Model<ModelMessage>): Promise<void> {
  const chat = createAssistant({
    model,
    memory: createChatMemory(),
    systemMessage: (id) => `You serve ${id}.`,
  });
  await chat.chat("Hi");
  await chat.chat({ role: "user", content: "Hi" });
  await chat.chat("Hi", { id: undefined, memoryId: undefined, signal: undefined });
  // @ts-expect-error a message, or text
  await chat.chat(7);
  // @ts-expect-error no such option
  await chat.chat("Hi", { memory: "a" });
}

export function tools(model: Model<ModelMessage>): void {
  const typed = tool({
    inputSchema: z.object({ city: z.string(), days: z.coerce.number() }),
    execute: (input, { memoryId, toolCallId, signal }) => {
      same<typeof input, { city: string; days: number }>();
      same<[typeof memoryId, typeof toolCallId, typeof signal], [string, string, AbortSignal]>();
    },
  });
  const untyped = tool({
    inputSchema: { type: "object" },
    execute: (input) => same<typeof input, Readonly<Record<string, unknown>>>(),
  });
  const declared = tool<{ n: number }>({ inputSchema: {}, execute: ({ n }) => n });
  createAssistant({ model, tools: { typed, untyped, declared } satisfies Tools });
  // @ts-expect-error a schema is required: the model must know what to give
  tool({ execute: () => 1 });
  // @ts-expect-error so is the function
  tool({ inputSchema: {} });
  // @ts-expect-error no such behavior
  tool({ inputSchema: {}, execute: () => 1, returnBehavior: "now" });
}

export async function approvals(model: Model<ModelMessage>, response: ApprovalResponse): Promise<void> {
  const pay = tool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: ({ amount }, { toolCallId, memoryId, signal }) => {
      same<
        [typeof amount, typeof toolCallId, typeof memoryId, typeof signal],
        [number, string, string, AbortSignal]
      >();
      return amount > 50;
    },
    execute: ({ amount }) => amount,
  });
  const always = tool({ inputSchema: {}, needsApproval: true, execute: () => 1 });
  const tools = { pay, always } satisfies Tools;
  // @ts-expect-error neither true or false nor a function that tells
  tool({ inputSchema: {}, needsApproval: "always", execute: () => 1 });
  // @ts-expect-error the same
  tool({ inputSchema: {}, needsApproval: () => "yes", execute: () => 1 });
  const chat = createAssistant({ model, memory: createChatMemory(), tools });
  const result = await chat.chat("Hi");
  same<typeof result.approvalRequests, readonly ApprovalRequest[]>();
  const given = [{ ...response, reason: undefined }];
  same<ReturnType<typeof chat.chat>, Promise<ChatResult<ModelMessage>>>();
  await chat.chat({ approvals: given }, { id: result.id });
  for await (const event of chat.stream({ approvals: given }, { id: result.id })) {
    if (event.type === "tool-approval-request") same<typeof event.request, ApprovalRequest>();
  }
  // @ts-expect-error of which turn?
  await chat.chat({ approvals: given });
  // @ts-expect-error the same
  chat.stream({ approvals: given }, {});
  // @ts-expect-error a decision
  await chat.chat({ approvals: [{ approvalId: "a" }] }, { id: result.id });
  const many = createAssistant({ model, memories: createChatMemories({ store: inMemoryStore() }), tools });
  await many.chat({ approvals: given }, { memoryId: "a", id: result.id });
  // @ts-expect-error of which memory?
  await many.chat({ approvals: given }, { id: result.id });
  // A caller that passes on what it is given sees the messages.
  same<Parameters<typeof chat.chat>, [message: string | ModelMessage, options?: ChatOptions]>();
}

export function policies(model: Model<ModelMessage>): void {
  createAssistant({
    model,
    maxRoundTrips: 5,
    toolConcurrency: 1,
    busy: "reject",
    keepFailedTurns: true,
    strategies: {
      toolError: (error, call) => `${call.name}: ${String(error)}`,
      invalidInput: () => ({ input: {} }),
      unknownTool: async () => ({ output: 1, isError: false }),
      tooManyRoundTrips: "answer",
    },
  });
  // @ts-expect-error no such strategy
  createAssistant({ model, strategies: { toolError: "ignore" } });
  // @ts-expect-error only an invalid input can be repaired
  createAssistant({ model, strategies: { unknownTool: () => ({ input: {} }) } });
  // @ts-expect-error no such policy
  createAssistant({ model, busy: "wait" });
  // @ts-expect-error no such option
  createAssistant({ model, maxSteps: 5 });
  // @ts-expect-error a misspelt strategy
  createAssistant({ model, strategies: { toolErr: "throw" } });
  // @ts-expect-error who answers?
  createAssistant({ memory: createChatMemory() });
}

export function modelsOfAdapters(): void {
  // @ts-expect-error which model?
  openaiCompatible({ baseUrl: "http://localhost:11434/v1" });
  // @ts-expect-error a misspelt option
  openaiCompatibleChat({ ...server, baseURL: "http://localhost:11434/v1" });
  // @ts-expect-error which model?
  aiSdkModel({ settings: { temperature: 0 } });
  // @ts-expect-error a misspelt option
  aiSdkModel({ model: sdk7, setting: { temperature: 0 } });
  // @ts-expect-error a misspelt member
  tool({ inputSchema: {}, execute: () => 1, idempotnet: true });
}

export function errorsByTheirCode(error: unknown, found: AssistantError): void {
  if (isAssistantError(error)) same<typeof error, AssistantError>();
  if (isAssistantError(error, "BUSY")) same<typeof error.code, "BUSY">();
  if (isAssistantError(found, "BUSY")) same<typeof found.code, "BUSY">();
  else same<typeof found, AssistantError>();
  // @ts-expect-error no such code
  isAssistantError(error, "BUZY");
}
