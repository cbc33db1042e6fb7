// npm install @strands-agents/sdk @turnkeep/core @turnkeep/formats zod
// A model of our own answers; leave `model` out for Amazon Bedrock's. Strands needs Node 22 or newer.

import { Agent, type Message, tool } from "@strands-agents/sdk";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { bedrockFormat } from "@turnkeep/formats/bedrock";
import { bedrock } from "@turnkeep/formats/profiles";
import { z } from "zod";
import { ScriptedModel } from "./scripted-model.ts";
import { TurnkeepPlugin } from "./turnkeep-plugin.ts";

const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }), …
  format: bedrockFormat,
  profile: bedrock,
  window: { maxMessages: 6, unit: "turn" },
});

const weather = tool({
  name: "weather",
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  callback: ({ city }) => `${city}: 4 °C, rain`,
});

const model = new ScriptedModel(
  "Hello, Ann.",
  { name: "weather", input: { city: "Oslo" } },
  "Take an umbrella.",
  "It rains there.",
);

const kindOf = ({ role, content }: Message) => (content[0]?.type === "toolResultBlock" ? "tool" : role);

for (const question of ["I am Ann.", "Do I need an umbrella in Oslo?", "Why?"]) {
  // As in another process each time: the agent knows nothing but what the memory shows it.
  const plugins = [new TurnkeepPlugin(memories.get("chat-1", { owner: "ann" }))];
  const agent = new Agent({ model, tools: [weather], plugins, printer: false });
  const answer = await agent.invoke(question);
  console.log(`> ${question}\n${answer} (shown: ${model.requests.at(-1)?.map(kindOf).join(" ")})`);
}

const { messages } = await memories.get("chat-1", { owner: "ann" }).history();
console.log("said:", messages.map(({ message }) => message.role).join(" "));

const plugins = [new TurnkeepPlugin(memories.get("chat-1", { owner: "bob" }))];
const agent = new Agent({ model, plugins, printer: false });
await agent.invoke("What did she say?").catch(({ code }) => console.log("bob:", code));
