// npm install @tanstack/ai @turnkeep/core @turnkeep/tanstack-ai zod
// An adapter of our own answers; for OpenAI import openaiText from "@tanstack/ai-openai" and write openaiText("gpt-5.5").

import { chat, type StreamChunk, toolDefinition } from "@tanstack/ai";
import { BaseTextAdapter } from "@tanstack/ai/adapters";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { tanstackFormat, turnkeepMiddleware } from "@turnkeep/tanstack-ai";
import { z } from "zod";

const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }), …
  format: tanstackFormat,
  window: { maxMessages: 6, unit: "turn" },
});
const memory = turnkeepMiddleware<{ user: string }>({ memories, owner: ({ context }) => context.user });

const weather = toolDefinition({
  name: "weather",
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
}).server(async ({ city }) => `${city}: 4 °C, rain`);

const replies = ["Hello, Ann.", { city: "Oslo" }, "Take an umbrella.", "It rains there."];
let shown = "";

class Scripted extends BaseTextAdapter<"scripted", object, readonly ["text"], never> {
  readonly name = "scripted";

  async *chatStream({ messages }: { messages: { role: string }[] }): AsyncGenerator<StreamChunk> {
    shown = messages.map(({ role }) => role).join(" ");
    const reply = replies.shift();
    const id = crypto.randomUUID();
    const chunks =
      typeof reply === "string"
        ? [{ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: reply }]
        : [
            { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "weather" },
            { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(reply) },
            { type: "TOOL_CALL_END", toolCallId: id },
          ];
    const finishReason = typeof reply === "string" ? "stop" : "tool_calls";
    yield* [...chunks, { type: "RUN_FINISHED", finishReason }] as StreamChunk[];
  }

  async structuredOutput(): Promise<never> {
    throw new Error("Not for structured output.");
  }
}

const ask = (content: string, user: string): Promise<string> =>
  chat({
    adapter: new Scripted({}, "scripted"),
    threadId: "chat-1",
    messages: [{ role: "user", content }], // what is new; a browser may as well post all that it shows
    tools: [weather],
    context: { user },
    middleware: [memory],
    debug: false,
    stream: false,
  });

for (const question of ["I am Ann.", "Do I need an umbrella in Oslo?", "Why?"]) {
  console.log(`> ${question}\n${await ask(question, "ann")} (shown: ${shown})`);
}

const { messages } = await memories.get("chat-1", { owner: "ann" }).history();
console.log("said:", messages.map(({ message }) => message.role).join(" "));
await ask("What did she say?", "bob").catch(({ code }) => console.log("bob:", code));
