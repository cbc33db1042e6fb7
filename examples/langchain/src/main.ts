// npm install @langchain/core @turnkeep/core @turnkeep/langchain langchain zod
// LangChain's fake model answers; for a real one write createAgent({ model: "openai:gpt-5.6", … }).

import { fakeModel } from "@langchain/core/testing";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { langchainFormat, TurnkeepChatMessageHistory } from "@turnkeep/langchain";
import { turnkeepMiddleware } from "@turnkeep/langchain/middleware";
import { AIMessage, createAgent, tool } from "langchain";
import { z } from "zod";

const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }), …
  format: langchainFormat,
  window: { maxMessages: 6, unit: "turn" },
});

const weather = tool(({ city }) => `${city}: 4 °C, rain`, {
  name: "weather",
  description: "The weather in a city",
  schema: z.object({ city: z.string() }),
});

const model = fakeModel()
  .respond(new AIMessage("Hello, Ann."))
  .respondWithTools([{ name: "weather", args: { city: "Oslo" }, id: "call-1" }])
  .respond(new AIMessage("Take an umbrella."))
  .respond(new AIMessage("It rains there."));

const agent = createAgent({
  model,
  tools: [weather],
  middleware: [
    turnkeepMiddleware({ memories, owner: ({ context }: { context: { user: string } }) => context.user }),
  ],
  contextSchema: z.object({ user: z.string() }),
});

const run = { configurable: { thread_id: "chat-1" }, context: { user: "ann" } };
for (const question of ["I am Ann.", "Do I need an umbrella in Oslo?", "Why?"]) {
  const { messages } = await agent.invoke({ messages: question }, run);
  const shown = model.calls.at(-1)?.messages.map(({ type }) => type) ?? [];
  console.log(`> ${question}\n${messages.at(-1)?.text} (shown: ${shown.join(" ")})`);
}

const history = new TurnkeepChatMessageHistory({ memories, sessionId: "chat-1", owner: "ann" });
console.log("said:", (await history.getMessages()).map(({ type }) => type).join(" "));

const stranger = { ...run, context: { user: "bob" } };
await agent
  .invoke({ messages: "What did she say?" }, stranger)
  .catch(({ code }) => console.log("bob:", code));
