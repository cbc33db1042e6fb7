// npm install @turnkeep/core ai
// It needs ai@7, the AI SDK's major 7, and with it Node 22 or newer.
// MODEL=openai/gpt-5-mini AI_GATEWAY_API_KEY=… npx tsx main.ts

import { createChatMemory, modelMessageFormat, type Summarize, user } from "@turnkeep/core";
import { generateText, type LanguageModel, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const textOf = (message: ModelMessage): string =>
  modelMessageFormat
    .pieces(message)
    .map((piece) => (piece.type === "text" ? piece.text : "(file)"))
    .join(" ");

// MODEL=openai/gpt-5-mini with AI_GATEWAY_API_KEY; or put any model of the AI SDK in its place.
const model: LanguageModel = process.env.MODEL || standIn();

const summarize: Summarize<ModelMessage> = async (evicted, { signal, maxCharacters }) => {
  const { text } = await generateText({
    model,
    abortSignal: signal,
    instructions:
      `Sum up this conversation for the assistant that will go on with it, in less than ${maxCharacters} characters. ` +
      "Keep names, numbers, decisions and what is still open. Plain text.",
    // As text, not as messages: so that the model does not go on with the conversation itself.
    prompt: evicted.map((message) => `${message.role}: ${textOf(message)}`).join("\n"),
  });
  return user(`Earlier: ${text}`);
};

const memory = createChatMemory<ModelMessage>({
  // With more than six messages the oldest turns leave, until there are three, and a summary stands for them.
  window: { maxMessages: 6, target: 0.5, unit: "turn", summarize },
  onEvent: (event) => {
    if (event.type === "summarized") console.log(`(${event.messageIds.length} messages summed up)`);
    if (event.type === "summarize-failed") console.log(`(not summed up: ${event.reason})`);
  },
});

const questions = [
  "My name is Ada, and I am planning a trip to Norway in June.",
  "There are two of us. We like to walk, but no more than five hours a day.",
  "Which of the fjords should we see first?",
  "We have booked the night train to Bergen, for the ninth.",
  "What should we pack?",
  "Remind me: what do you know about our trip?",
];
for (const question of questions) {
  await memory.add(user(question));
  const { text, responseMessages } = await generateText({ model, messages: await memory.messages() });
  console.log(`user: ${question}\nassistant: ${text}`);
  await memory.add(...responseMessages);
}

console.log("\nThe model sees:");
for (const message of await memory.messages()) console.log(`  ${message.role}: ${textOf(message)}`);

const { messages } = await memory.history();
const left = messages.filter(({ state }) => state === "evicted");
console.log(`\nHistory has ${messages.length} messages; a summary stands for ${left.length} of them.`);

/**
 * What answers without an account: it sums up by the beginnings of what users said, and knows of a conversation what its
 * first message says.
 */
function standIn(): LanguageModel {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const said = prompt.map(({ content }) => {
        const [part] = Array.isArray(content) ? content : [];
        return part?.type === "text" ? part.text : "";
      });
      const last = said.at(-1) ?? "";
      const users = last.split("\n").filter((line) => line.startsWith("user: "));
      let text = "I see.";
      if (users.length > 0)
        text = users.map((line) => line.replace(/^user: (Earlier: )?/, "").split(/[.?,] ?/)[0]).join("; ");
      else if (last.startsWith("Remind me")) text = said[0] ?? "";
      const tokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
      return {
        content: [{ type: "text", text }],
        finishReason: { unified: "stop", raw: undefined },
        usage: {
          inputTokens: tokens,
          outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        },
        warnings: [],
      };
    },
  });
}
