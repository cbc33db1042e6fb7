import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { providerStrategy } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { agentOf, memoriesOf, recorded, thread } from "./agents.ts";

it("streams, and stores the whole answer, with a response format", async () => {
  const memories = memoriesOf();
  const model = new FakeStreamingChatModel({
    sleep: 0,
    chunks: ['{"degrees":', "4}"].map((content) => new AIMessageChunk({ content })),
  });
  const responseFormat = providerStrategy(z.object({ degrees: z.number() }));
  const agent = agentOf(memories, { model, responseFormat });
  const stream = await agent.stream({ messages: "How warm?" }, { ...thread(), streamMode: "messages" });
  let text = "";
  for await (const [chunk] of stream as AsyncIterable<[BaseMessage]>) text += chunk.text;
  expect(text).toBe('{"degrees":4}');
  expect(await recorded(memories)).toEqual(["human: How warm?", 'ai: {"degrees":4}']);
  const { messages } = await memories.get("chat-1").history();
  expect(messages[1]?.message).not.toBeInstanceOf(AIMessageChunk);
});
