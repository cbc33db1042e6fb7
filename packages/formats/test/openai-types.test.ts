import { type ChatMemory, createChatMemory, entry, type MessageFormat } from "@turnkeep/core";
import type OpenAI from "openai";
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type OpenAI6 from "openai6";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";

describe("types", () => {
  it("are assignable from and to those of the openai package", () => {
    expectTypeOf<ChatCompletionMessageParam>().toExtend<ChatMessage>();
    expectTypeOf<ChatMessage>().toExtend<ChatCompletionMessageParam>();
    expectTypeOf<ChatCompletionMessage>().toExtend<ChatMessage>();
    expectTypeOf<ChatMessage[]>().toExtend<ChatCompletionCreateParamsNonStreaming["messages"]>();
  });

  it("let a memory speak the application's own type", async () => {
    const memory = createChatMemory({ format: openaiFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<ChatMessage>>();
    const own = createChatMemory<ChatCompletionMessageParam>({ format: openaiFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<ChatCompletionMessageParam>>();
    const typed = async (client: OpenAI): Promise<ChatCompletion> => {
      const completion = await client.chat.completions.create({
        model: "m",
        messages: await memory.messages(),
      });
      for (const { message } of completion.choices) await memory.add(message, entry(message, { id: "m-1" }));
      // @ts-expect-error: no message of the API
      await memory.add({ role: "robot", content: "x" });
      return completion;
    };
    expect(typed).toBeTypeOf("function");
  });

  it("let a memory speak the type of major 6, which knows less, where the format is said to", () => {
    type Message = OpenAI6.ChatCompletionMessageParam;
    const memory = createChatMemory({ format: openaiFormat as MessageFormat<Message> });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<Message>>();
    expectTypeOf<OpenAI6.ChatCompletionMessage>().toExtend<Message>();
    expect(memory.format).toBe(openaiFormat);
  });
});
