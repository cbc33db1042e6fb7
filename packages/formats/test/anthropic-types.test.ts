import type Anthropic from "@anthropic-ai/sdk";
import { type ChatMemory, createChatMemory, entry } from "@turnkeep/core";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicSystemMessage,
  anthropicFormat,
} from "../src/anthropic.ts";

type Params = Anthropic.MessageCreateParamsNonStreaming;

describe("types", () => {
  it("are assignable from and to those of the SDK", () => {
    expectTypeOf<Anthropic.MessageParam>().toExtend<AnthropicMessage>();
    expectTypeOf<AnthropicMessage>().toExtend<Anthropic.MessageParam>();
    expectTypeOf<Anthropic.ContentBlockParam>().toExtend<AnthropicBlock>();
    expectTypeOf<AnthropicBlock>().toExtend<Anthropic.ContentBlockParam>();
    expectTypeOf<AnthropicMessage[]>().toExtend<Params["messages"]>();
    expectTypeOf<AnthropicSystemMessage["content"]>().toExtend<NonNullable<Params["system"]>>();
  });

  it("take what a response holds, and not a whole response", () => {
    expectTypeOf<Pick<Anthropic.Message, "role" | "content">>().toExtend<AnthropicMessage>();
    expectTypeOf<Anthropic.Message>().not.toExtend<AnthropicMessage>();
  });

  it("let a memory speak the application's own type", async () => {
    const memory = createChatMemory({ format: anthropicFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<AnthropicMessage>>();
    const own = createChatMemory<Anthropic.MessageParam>({ format: anthropicFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<Anthropic.MessageParam>>();
    const beta = createChatMemory<Anthropic.Beta.BetaMessageParam>({ format: anthropicFormat });
    expectTypeOf(beta).toEqualTypeOf<ChatMemory<Anthropic.Beta.BetaMessageParam>>();
    const typed = async (client: Anthropic): Promise<Anthropic.Message> => {
      const { system, messages } = await memory.prompt();
      const { role, content, ...rest } = await client.messages.create({
        model: "m",
        max_tokens: 100,
        ...(system === undefined ? {} : { system: system.content }),
        messages,
      });
      await memory.add({ role, content }, entry({ role, content }, { id: "m-1" }));
      // @ts-expect-error: no message of the API
      await memory.add({ role: "robot", content: "x" });
      return { role, content, ...rest };
    };
    expect(typed).toBeTypeOf("function");
  });
});
