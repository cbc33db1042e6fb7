import { type ChatMemories, createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { AIMessage, createAgent } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { turnkeepMiddleware } from "../src/middleware.ts";
import { memoriesOf, modelOf, recorded, thread } from "./agents.ts";

const contextSchema = z.object({ user: z.string() });

it("refuses another owner's conversation as such, before the model is asked", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(new AIMessage("Hello, Ann."), new AIMessage("Never."));
  const owner = ({ context }: { context: { user: string } }): string => context.user;
  const agent = createAgent({ model, contextSchema, middleware: [turnkeepMiddleware({ memories, owner })] });
  await agent.invoke({ messages: "Hello" }, { ...thread(), context: { user: "ann" } });
  const refused = await agent
    .invoke({ messages: "What did she say?" }, { ...thread(), context: { user: "bob" } })
    .catch((error: unknown) => error);
  expect(isTurnkeepError(refused, "OWNER_MISMATCH")).toBe(true);
  expect(prompts()).toHaveLength(1);
  expect(await recorded(memories)).toEqual(["human: Hello", "ai: Hello, Ann."]);
  expect((await memories.list({ owner: "ann" })).memories).toMatchObject([{ memoryId: "chat-1" }]);
});

it("takes one owner for all, and refuses a forgotten one", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(new AIMessage("Hello."));
  const agent = createAgent({ model, middleware: [turnkeepMiddleware({ memories, owner: "ann" })] });
  await agent.invoke({ messages: "Hello" }, thread());
  expect((await memories.list({ owner: "ann" })).memories).toHaveLength(1);
  for (const owner of [undefined as never, () => undefined as never]) {
    const middleware = [turnkeepMiddleware({ memories, owner })];
    const run = createAgent({ model, middleware }).invoke({ messages: "Hello" }, thread("chat-2"));
    const error = await run.catch((error: unknown) => error);
    expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
  }
});

it("says what is missing", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(new AIMessage("Hello."));
  const agent = createAgent({ model, middleware: [turnkeepMiddleware({ memories })] });
  await expect(agent.invoke({ messages: "Hello" })).rejects.toThrow("thread_id");
  expect(() => turnkeepMiddleware({ memories: {} as never })).toThrow("createChatMemories");
  expect(() => turnkeepMiddleware({ memories, owners: "ann" } as never)).toThrow("owners");
  const others = createChatMemories({ store: inMemoryStore() }) as unknown as ChatMemories<never>;
  const wrong = createAgent({ model, middleware: [turnkeepMiddleware({ memories: others })] });
  await expect(wrong.invoke({ messages: "Hello" }, thread())).rejects.toThrow("langchainFormat");
});
