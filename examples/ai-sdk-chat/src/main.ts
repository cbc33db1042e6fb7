// npm install @ai-sdk/openai-compatible @turnkeep/assistant @turnkeep/core ai zod
// It needs ai@7, the AI SDK's major 7, and with it Node 22 or newer.
// MODEL_BASE_URL=http://localhost:11434/v1 MODEL_NAME=llama3.2 npx tsx main.ts "Weather in Oslo?"

import { createInterface } from "node:readline";
import { type ChatResult, createAssistant, tool } from "@turnkeep/assistant";
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
      needsApproval: ({ city }) => city === "Rome", // a request that costs something, say
      execute: async ({ city }) => `${city}: 4 °C, rain`, // ask a weather service here
    }),
  },
});

/** The turn that waits for the user's approval. */
let waiting: ChatResult<ModelMessage> | undefined;

for await (const said of questions()) {
  try {
    const events = waiting === undefined ? assistant.stream(said) : decide(waiting, said === "yes");
    waiting = undefined;
    for await (const event of events) {
      if (event.type === "text") process.stdout.write(event.text);
      if (event.type === "tool-call") console.log(`[${event.call.name} ${JSON.stringify(event.call.input)}]`);
      if (event.type === "tool-approval-request") process.stdout.write("May it? yes or no");
      if (event.type === "finish") console.log();
      if (event.type === "finish" && event.result.finishReason === "approval") waiting = event.result;
    }
  } catch (error) {
    console.log(`(${error instanceof Error ? error.message : error})`);
  }
}

function decide({ id, approvalRequests }: ChatResult<ModelMessage>, approved: boolean) {
  const approvals = approvalRequests.map(({ approvalId }) => ({ approvalId, approved }));
  return assistant.stream({ approvals }, { id });
}

/** The program's arguments, or else what is typed. */
async function* questions(): AsyncGenerator<string> {
  for (const question of process.argv.slice(2)) {
    console.log(`> ${question}`);
    yield question;
  }
  if (process.argv.length > 2) return;
  const typed = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  typed.prompt();
  for await (const line of typed) {
    if (line.trim() !== "") yield line;
    typed.prompt();
  }
}
