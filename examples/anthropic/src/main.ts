// npm install @anthropic-ai/sdk @turnkeep/assistant @turnkeep/core @turnkeep/formats
// ANTHROPIC_API_KEY=… npx tsx main.ts

import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { createAssistant, type Model, tool } from "@turnkeep/assistant";
import { anthropicMessages } from "@turnkeep/assistant/anthropic";
import { createChatMemory } from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { anthropic } from "@turnkeep/formats/profiles";

const client = new Anthropic(); // ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for a server of your own

const cutOff: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content-filter"],
]);

/** One answer of the model, as it is made. The API takes the prompt apart from the others, later instructions among them. */
const model: Model<AnthropicMessage> = async ({ messages, tools, toolChoice, signal, onDelta }) => {
  const [first] = messages;
  const system = first?.role === "system" ? first : undefined;
  const stream = client.messages.stream(
    {
      model: process.env.ANTHROPIC_MODEL ?? "claude-sonnet-5-5",
      max_tokens: 1000,
      cache_control: { type: "ephemeral" }, // the prompt's beginning costs a tenth in the next five minutes
      ...(typeof system?.content === "string" && { system: system.content }),
      messages: messages.slice(system === undefined ? 0 : 1),
      tools: tools.map(({ name, description = "", inputSchema }) => ({
        name,
        description,
        input_schema: { type: "object", ...inputSchema },
      })),
      tool_choice: { type: toolChoice },
    },
    { signal },
  );
  stream.on("text", (text) => onDelta?.({ type: "text", text }));
  const { role, content, usage, stop_reason } = await stream.finalMessage();
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    message: { role, content },
    usage: {
      inputTokens: usage.input_tokens + cachedInputTokens + cacheWriteTokens, // the API counts them apart
      outputTokens: usage.output_tokens,
      cachedInputTokens,
      cacheWriteTokens,
    },
    // Of an answer that was cut off, the last call may be a part: the assistant does not carry it out.
    finishReason: stop_reason === null ? undefined : cutOff.get(stop_reason),
  };
};

const assistant = createAssistant({
  model,
  messages: anthropicMessages<AnthropicMessage>(),
  memory: createChatMemory({
    format: anthropicFormat,
    profile: anthropic,
    window: { maxMessages: 40, unit: "turn", target: 0.7 }, // evicts seldom, so that the beginning stays the same
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
      if (event.type === "tool-call") console.log(`[${event.call.name} ${JSON.stringify(event.call.input)}]`);
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
