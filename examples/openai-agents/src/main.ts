// npm install @openai/agents-core @turnkeep/core @turnkeep/openai-agents zod
// The SDK's scripted model answers; for a real one import from "@openai/agents" and write new Agent({ model: "gpt-5.6", … }).

import { Agent, type AgentInputItem, run, setTracingDisabled, tool } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { agentsFormat, TurnkeepSession } from "@turnkeep/openai-agents";
import { z } from "zod";

setTracingDisabled(true);
const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }), …
  format: agentsFormat,
  window: { maxMessages: 6, unit: "turn" },
});

const weather = tool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: 4 °C, rain`,
});

const model = new ScriptedModel([
  [assistantMessage("Hello, Ann.")],
  [functionCall("weather", { city: "Oslo" }, { callId: "call-1" })],
  [assistantMessage("Take an umbrella.")],
  [assistantMessage("It rains there.")],
]);
const agent = new Agent({ name: "Assistant", instructions: "Be brief.", model, tools: [weather] });
const kinds = (items: readonly AgentInputItem[]): string =>
  items.map((item) => ("role" in item ? item.role : item.type)).join(" ");

for (const question of ["I am Ann.", "Do I need an umbrella in Oslo?", "Why?"]) {
  // A session for each request: all of it is in the store.
  const session = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
  const { finalOutput } = await run(agent, question, { session, callModelInputFilter: session.modelInput });
  const shown = kinds((model.lastCall?.request.input ?? []) as AgentInputItem[]);
  console.log(`> ${question}\n${finalOutput} (shown: ${shown})`);
}

const session = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
console.log("said:", kinds(await session.getItems()));

const stranger = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "bob" });
await run(agent, "What did she say?", { session: stranger }).catch(({ code }) => console.log("bob:", code));
