import type {
  Content,
  GenerateContentParameters,
  GenerateContentResponse,
  GoogleGenAI,
  Part,
} from "@google/genai";
import { type ChatMemory, createChatMemory } from "@turnkeep/core";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type GeminiContent, type GeminiPart, geminiFormat } from "../src/gemini.ts";

describe("types", () => {
  it("are assignable from and to those of the SDK", () => {
    expectTypeOf<Content>().toExtend<GeminiContent>();
    expectTypeOf<GeminiContent>().toExtend<Content>();
    expectTypeOf<Part>().toExtend<GeminiPart>();
    expectTypeOf<GeminiPart>().toExtend<Part>();
    expectTypeOf<GeminiContent[]>().toExtend<GenerateContentParameters["contents"]>();
  });

  it("let a memory speak the application's own type", () => {
    const memory = createChatMemory({ format: geminiFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<GeminiContent>>();
    const own = createChatMemory<Content>({ format: geminiFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<Content>>();
    const typed = async (ai: GoogleGenAI): Promise<GenerateContentResponse> => {
      const { system, messages } = await memory.prompt();
      const answer = await ai.models.generateContent({
        model: "m",
        contents: messages,
        ...(system && { config: { systemInstruction: system } }),
      });
      const content = answer.candidates?.[0]?.content;
      if (content !== undefined) await memory.add(content);
      // @ts-expect-error: no content of the API
      await memory.add({ role: "user", content: "x" });
      return answer;
    };
    expect(typed).toBeTypeOf("function");
  });
});
