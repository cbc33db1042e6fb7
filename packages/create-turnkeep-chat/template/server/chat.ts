import { chatHandler } from "@turnkeep/ai-sdk";
import { createChatMemories } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { openai } from "@turnkeep/formats/profiles";
import { tokenCounter } from "@turnkeep/tokens";
import { tool, type UIMessage } from "ai";
import { z } from "zod";
import { mockModel } from "./mock-model.ts";
import { ownerOf } from "./session.ts";
import { store } from "./store.ts";
import { textOf } from "./text.ts";

const tools = {
  book: tool({
    description: "Books a seat on the train to a city",
    inputSchema: z.object({ city: z.string() }),
    async execute({ city }) {
      // Ask a booking service here.
      console.log(`Booked a seat to ${city}.`);
      return `Seat 7 to ${city} is booked.`;
    },
  }),
};

/** The chats. A question counts, with what was said before it, up to `maxTokens`; what leaves stays in the history. */
export const memories = createChatMemories({
  store,
  format: uiMessageFormat<UIMessage>(),
  profile: openai,
  window: {
    maxTokens: Number(process.env.CONTEXT_TOKENS ?? 16_000),
    counter: await tokenCounter("gpt-5-mini"),
    unit: "turn",
    reserve: 1_000, // for the instructions, the tools and the answer
  },
});

export const handler = chatHandler({
  memories,
  owner: ownerOf,
  // A model of Vercel's AI Gateway by its name, or one of any provider's package of the SDK.
  model: process.env.AI_GATEWAY_API_KEY ? "openai/gpt-5-mini" : mockModel(),
  tools,
  settings: {
    instructions: "You are a helpful assistant who can also book trains. Be brief.",
    toolApproval: { book: "user-approval" },
  },
  title: ([question]) => (question === undefined ? "" : textOf(question).slice(0, 60)),
});
