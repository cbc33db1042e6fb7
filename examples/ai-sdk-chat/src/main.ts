import { createInterface } from "node:readline";
import { createAssistant, tool } from "@turnkeep/assistant";
import { aiSdkModel } from "@turnkeep/assistant/ai-sdk";
import { createChatMemory } from "@turnkeep/core";
import type { ModelMessage } from "ai";
import { z } from "zod";
import { languageModel } from "./language-model.ts";

const assistant = createAssistant({
  model: aiSdkModel({ model: languageModel() }),
  memory: createChatMemory<ModelMessage>({ window: { maxMessages: 40, unit: "turn" } }),
  systemMessage: "You know the weather, by your tool. Be brief.",
  tools: {
    weather: tool({
      description: "The weather in a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `${city}: 4 °C, rain`, // ask a weather service here
    }),
  },
});

// Questions are the program's arguments, or else the lines that are typed.
const typed = process.argv.length > 2 ? process.argv.slice(2) : createInterface({ input: process.stdin });
for await (const question of typed) {
  console.log(`> ${question}`);
  for await (const event of assistant.stream(question)) {
    if (event.type === "text") process.stdout.write(event.text);
    if (event.type === "tool-call") console.log(`[${event.call.name} ${JSON.stringify(event.call.input)}]`);
    if (event.type === "finish") console.log();
  }
}
