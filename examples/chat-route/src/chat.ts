import { chatHandler } from "@turnkeep/ai-sdk";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { tool, type UIMessage } from "ai";
import { z } from "zod";
import { mockModel } from "./mock-model.ts";

const tools = {
  book: tool({
    description: "Books a seat in the train to a city",
    inputSchema: z.object({ city: z.string() }),
    // Ask a booking service here.
    execute: async ({ city }) => `Seat 7 to ${city} is booked.`,
  }),
};

export const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }) of @turnkeep/store-postgres
  format: uiMessageFormat<UIMessage>(),
  window: { maxMessages: 40, unit: "turn" },
});

export const handler = chatHandler({
  memories,
  owner: (request) => request.headers.get("user") ?? undefined, // who is signed in, from the session
  model: mockModel(), // or any model of the SDK
  tools,
  settings: { instructions: "You book trains. Be brief.", toolApproval: { book: "user-approval" } },
});
