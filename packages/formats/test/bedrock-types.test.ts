import {
  type BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  type Message,
  type SystemContentBlock,
} from "@aws-sdk/client-bedrock-runtime";
import { type ChatMemory, createChatMemory } from "@turnkeep/core";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type BedrockContentBlock, type BedrockMessage, bedrockFormat } from "../src/bedrock.ts";

describe("types", () => {
  it("are assignable from and to those of the SDK", () => {
    expectTypeOf<Message>().toExtend<BedrockMessage>();
    expectTypeOf<BedrockMessage>().toExtend<Message>();
    expectTypeOf<SystemContentBlock>().toExtend<BedrockContentBlock>();
    expectTypeOf<BedrockMessage[]>().toExtend<NonNullable<ConverseCommandInput["messages"]>>();
  });

  it("let a memory speak the application's own type", () => {
    const memory = createChatMemory({ format: bedrockFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<BedrockMessage>>();
    const own = createChatMemory<Message>({ format: bedrockFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<Message>>();
    const typed = async (client: BedrockRuntimeClient): Promise<ConverseCommandOutput> => {
      const { system, messages } = await memory.prompt();
      const answer = await client.send(
        new ConverseCommand({
          modelId: "m",
          messages,
          ...(system && { system: system.content as SystemContentBlock[] }),
        }),
      );
      const message = answer.output?.message;
      if (message !== undefined) await memory.add(message);
      // @ts-expect-error: no message of the API
      await memory.add({ role: "user", content: "x" });
      return answer;
    };
    expect(typed).toBeTypeOf("function");
  });
});
