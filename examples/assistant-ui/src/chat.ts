import { chatHandler } from "@turnkeep/ai-sdk";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";
import { mockModel } from "./mock-model.ts";

const memories = createChatMemories({
  store: inMemoryStore(), // or postgresStore({ url }) of @turnkeep/store-postgres
  format: uiMessageFormat<UIMessage>(),
  window: { maxMessages: 3, unit: "turn" }, // 40 in earnest
});

/** The server's side. In Next.js, app/api/chat/[[...path]]/route.ts: export { handler as DELETE, handler as GET, handler as POST }; */
export const handler = chatHandler({
  memories,
  owner: (request) => request.headers.get("user") ?? undefined, // who is signed in, from the session
  model: mockModel(), // or any model of the SDK
  title: ([question]) =>
    question?.parts[0]?.type === "text" ? `About: ${question.parts[0].text}` : "Untitled",
});
