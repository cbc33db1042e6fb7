/** Compiled by the type check, never run: a memory and the AI SDK's major 6, without a cast anywhere. */
import {
  generateText,
  type JSONValue,
  type LanguageModel,
  type ModelMessage,
  type SystemModelMessage,
  streamText,
  type UserContent,
} from "ai6";
import type { ModelMessage as ModelMessage7 } from "ai7";
import * as core from "../../src/index.ts";
import { createChatMemories, createChatMemory, inMemoryStore } from "../../src/index.ts";

declare const model: LanguageModel;

export async function withTheApplicationsType(): Promise<void> {
  const memory = createChatMemory<ModelMessage>({ id: "chat", store: inMemoryStore() });
  await memory.add({ role: "user", content: "Hello" });
  const messages: ModelMessage[] = await memory.messages();
  await generateText({ model, messages });

  const prompt = await memory.prompt();
  const result = await generateText({
    model,
    messages: prompt.messages,
    // The SDK's option admits no explicit undefined under exactOptionalPropertyTypes.
    ...(prompt.system && { system: prompt.system }),
  });
  await memory.add(...result.response.messages);

  const stream = streamText({ model, messages: prompt.messages });
  await memory.add(...(await stream.response).messages);
}

export async function ofManyConversations(): Promise<void> {
  const memory = createChatMemories<ModelMessage>({ store: inMemoryStore() }).get("chat");
  await generateText({ model, messages: await memory.messages() });
}

declare const output: JSONValue;
declare const parts: Exclude<UserContent, string>;

export async function withTheSdksOwnPartsInTheHelpers(): Promise<void> {
  const memory = createChatMemory<ModelMessage>();
  await memory.add(core.user(parts), core.toolResult("2", "weather", output));
}

export async function withWhatOnlyTheLaterMajorHolds(own: core.JsonValue): Promise<void> {
  const memory = createChatMemory<ModelMessage>();
  // @ts-expect-error a custom part
  await memory.add(core.assistant([{ type: "custom", kind: "openai.compaction" }]));
  // @ts-expect-error an output that may hold a read-only array
  await memory.add(core.toolResult("1", "weather", own));
}

/** What a project without exactOptionalPropertyTypes checks when it passes `system: prompt.system`. */
export const system = (prompt: core.Prompt<ModelMessage>): SystemModelMessage | undefined => prompt.system;

/** What major 6 returns fits the default type, but not the other way round: major 6 knows fewer parts. */
export const fromResponse = (message: ModelMessage & { role: "system" | "user" }): core.ModelMessage =>
  message;

// @ts-expect-error custom parts, reasoning files and provider references are major 7's
export const toSdk = (message: core.ModelMessage): ModelMessage => message;

// @ts-expect-error the majors are not assignable to each other: hence createChatMemory<ModelMessage>()
export const between = (message: ModelMessage7): ModelMessage => message;
