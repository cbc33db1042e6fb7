// npm install @turnkeep/assistant @turnkeep/core @turnkeep/formats openai
// OPENAI_API_KEY=… npx tsx main.ts

import { createInterface } from "node:readline";
import { createAssistant, type Model, tool } from "@turnkeep/assistant";
import { openaiMessages } from "@turnkeep/assistant/openai";
import { createChatMemory } from "@turnkeep/core";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { openai } from "@turnkeep/formats/profiles";
import OpenAI from "openai";

const client = new OpenAI(); // OPENAI_API_KEY, and OPENAI_BASE_URL for a server of your own

/** One answer of the model, as it is made. */
const model: Model<ChatMessage> = async ({ messages, tools, toolChoice, signal, onDelta }) => {
  const stream = client.chat.completions.stream(
    {
      model: process.env.OPENAI_MODEL ?? "gpt-5",
      messages: [...messages],
      tools: tools.map(({ name, description = "", inputSchema: parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
      tool_choice: toolChoice,
      stream_options: { include_usage: true },
    },
    { signal },
  );
  stream.on("content", (text) => onDelta?.({ type: "text", text }));
  const { choices, usage } = await stream.finalChatCompletion();
  const { message, finish_reason } = choices[0] ?? {};
  const { content = null, refusal, tool_calls: parsed = [] } = message ?? {};
  // What the package adds to a call for itself, the API would not take back.
  const calls = parsed.flatMap((call) =>
    call.type === "function"
      ? [
          {
            id: call.id,
            type: call.type,
            function: { name: call.function.name, arguments: call.function.arguments },
          },
        ]
      : [],
  );
  return {
    message: {
      role: "assistant",
      content,
      ...(refusal && { refusal }), // stands in the place of a content
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    usage: {
      inputTokens: usage?.prompt_tokens,
      outputTokens: usage?.completion_tokens,
      cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens,
      reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens,
    },
    finishReason: finish_reason?.replace("_", "-"),
  };
};

const assistant = createAssistant({
  model,
  messages: openaiMessages<ChatMessage>(),
  memory: createChatMemory({
    format: openaiFormat,
    profile: openai,
    window: { maxMessages: 40, unit: "turn" },
  }),
  systemMessage: "You know the weather, by your tool. Be brief.",
  tools: {
    weather: tool({
      description: "The weather in a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      execute: async ({ city }) => `${city}: 4 °C, rain`, // ask a weather service here
    }),
  },
});

for await (const question of questions()) {
  try {
    for await (const event of assistant.stream(question)) {
      if (event.type === "text") process.stdout.write(event.text);
      if (event.type === "tool-call") console.log(`[${event.call.name} ${event.call.input}]`);
      if (event.type === "finish") console.log();
    }
  } catch (error) {
    console.log(`(${error instanceof Error ? error.message : error})`);
  }
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
