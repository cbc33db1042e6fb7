/** Compiled by the type check, never run: a memory and the AI SDK's major 7, without a cast anywhere. */
import {
  generateText,
  type Instructions,
  type JSONValue,
  type LanguageModel,
  type ModelMessage,
  streamText,
  type UserContent,
} from "ai7";
import * as core from "../../src/index.ts";
import { createChatMemories, createChatMemory, inMemoryStore } from "../../src/index.ts";

declare const model: LanguageModel;

export async function withTheApplicationsType(): Promise<void> {
  const memory = createChatMemory<ModelMessage>({ id: "chat", store: inMemoryStore() });
  await memory.add({ role: "user", content: "Hello" });
  const messages: ModelMessage[] = await memory.messages();
  await generateText({ model, messages, allowSystemInMessages: true });

  const prompt = await memory.prompt();
  const result = await generateText({
    model,
    messages: prompt.messages,
    // The SDK's option admits no explicit undefined under exactOptionalPropertyTypes.
    ...(prompt.system && { instructions: prompt.system }),
  });
  await memory.add(...result.responseMessages);

  const stream = streamText({ model, messages: prompt.messages });
  await memory.add(...(await stream.responseMessages));
}

export async function withTheDefaultType(): Promise<void> {
  const memory = createChatMemory();
  const prompt = await memory.prompt();
  const result = await generateText({
    model,
    messages: prompt.messages,
    ...(prompt.system && { instructions: prompt.system }),
  });
  await memory.add(...result.responseMessages);
  await generateText({ model, messages: await memory.messages() });
}

export async function ofManyConversations(): Promise<void> {
  const memory = createChatMemories<ModelMessage>({ store: inMemoryStore() }).get("chat");
  await generateText({ model, messages: await memory.messages() });
}

declare const url: URL;
declare const output: JSONValue;
declare const parts: Exclude<UserContent, string>;

export async function withTheSdksOwnPartsInTheHelpers(): Promise<void> {
  const memory = createChatMemory<ModelMessage>();
  await memory.add(core.user(parts), core.toolResult("2", "weather", output));
}

/** The default type, anything of its shape, and what only major 7 holds. */
export async function withTheHelpersOfTheDefault(own: core.JsonValue): Promise<void> {
  const later = core.assistant([{ type: "custom", kind: "openai.compaction" }]);
  const file = core.user(
    [url].map((one) => ({ type: "file", data: { type: "url", url: one }, mediaType: "text/plain" })),
  );
  const result = core.toolResult("1", "weather", own);
  const sdk = createChatMemory<ModelMessage>();
  await sdk.add(later, file, result, core.toolCall("1", "weather", {}), core.user("Hello"));
  const memory = createChatMemory();
  await memory.add(later, file, result, core.toolCall("1", "weather", {}), core.user(parts));
  const like = createChatMemory<core.ModelMessageLike>();
  await like.add(later, file, result, core.toolCall("1", "weather", {}), core.user("Hello"));
  const either: core.UserModelMessage["content"] = Math.random() > 0.5 ? "Hello" : [];
  await memory.add(core.user(either), ...["Hello"].map((text) => core.assistant(text)));
}

/** What a project without exactOptionalPropertyTypes checks when it passes `instructions: prompt.system`. */
export const instructions = (
  prompt: core.Prompt<ModelMessage>,
  own: core.Prompt<core.ModelMessage>,
): (Instructions | undefined)[] => [prompt.system, own.system];

/** Assignable in both directions, part by part. */
export const toSdk = (message: core.ModelMessage): ModelMessage => message;
export const fromSdk = (message: ModelMessage): core.ModelMessage => message;

export async function mistakes(): Promise<void> {
  const memory = createChatMemory<ModelMessage>();
  // @ts-expect-error a role that no message has
  await memory.add({ role: "robot", content: "Hello" });
  // @ts-expect-error a tool message holds parts
  await memory.add({ role: "tool", content: "4 degrees" });
  // @ts-expect-error a result needs an output
  await memory.add({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "1", toolName: "weather" }],
  });
  // @ts-expect-error a part whose type is mistyped
  core.user([{ type: "txt", text: "Hello" }]);
  // @ts-expect-error a member that no part has
  core.user([{ type: "image", image: url, mediatype: "image/png" }]);
  // @ts-expect-error a member that no part has
  core.assistant([{ type: "tool-call", toolCallId: "1", toolName: "weather", input: {}, args: {} }]);
}
