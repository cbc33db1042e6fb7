import { type ChatMemory, createChatMemory } from "@turnkeep/core";
import type { ChatResponse, Message, Ollama } from "ollama";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type OllamaMessage, ollamaFormat } from "../src/ollama.ts";

describe("types", () => {
  it("are assignable from and to those of the package", () => {
    expectTypeOf<Message>().toExtend<OllamaMessage>();
    expectTypeOf<OllamaMessage>().toExtend<Message>();
  });

  it("let a memory speak the application's own type", () => {
    const memory = createChatMemory({ format: ollamaFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<OllamaMessage>>();
    const own = createChatMemory<Message>({ format: ollamaFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<Message>>();
    const typed = async (ollama: Ollama): Promise<ChatResponse> => {
      const answer = await ollama.chat({ model: "m", messages: await memory.messages() });
      await memory.add(answer.message);
      // @ts-expect-error: no message of the API
      await memory.add({ role: "user", content: ["x"] });
      return answer;
    };
    expect(typed).toBeTypeOf("function");
  });
});
