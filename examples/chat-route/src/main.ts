// npm install @hono/node-server @turnkeep/ai-sdk @turnkeep/core @turnkeep/formats ai hono zod
// It needs ai@7, the AI SDK's major 7, and with it Node 22 or newer.
// npx tsx main.ts

import { chatTransport } from "@turnkeep/ai-sdk/client";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { Chat } from "./browser.ts";
import { handler, memories } from "./chat.ts";

// What follows plays a browser: the SDK's own chat, and the handler in place of a server.
const transport = chatTransport({
  api: "http://localhost:3000/api/chat",
  headers: { user: "ann" },
  fetch: (url, init) => handler(new Request(url as string, init)),
});
const chat = new Chat({
  id: "chat-1",
  transport,
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  onFinish: () => finished(),
  onError: (error) => console.log(`(${error.message})`),
});

let finished = (): void => {};

const show = (what: string): void => {
  const last = chat.lastMessage?.parts.flatMap((part) =>
    part.type === "text" ? [part.text] : part.type === "tool-book" ? [`[book: ${part.state}]`] : [],
  );
  console.log(`${what}: ${last?.join(" ")}`);
};

await chat.sendMessage({ text: "Hello" });
show("asked");
await chat.regenerate();
show("asked for another answer");
await chat.sendMessage({ text: "Book a train to Bergen" });
show("asked");
const [edited, answer] = chat.messages.slice(-2) as [UIMessage, UIMessage];
const answered = new Promise<void>((resolve) => {
  finished = resolve;
});
for (const part of answer.parts) {
  if (part.type !== "tool-book" || part.state !== "approval-requested") continue;
  await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
}
await answered; // the chat has gone on by itself
show("approved");
await chat.sendMessage({ text: "Book a train to Oslo", messageId: edited.id });
show("edited");
await chat.sendMessage({ text: "Never mind", messageId: edited.id });
show("edited again");

const memory = memories.get("chat-1");
const view = await memory.messages();
console.log(`\nThe model sees: ${view.map(({ role }) => role).join(" ")}`);
const { messages } = await memory.history();
for (const { state, message } of messages) {
  const text = message.parts.map((part) => (part.type === "text" ? part.text : part.type)).join(" ");
  console.log(`  ${state} ${message.role}: ${text}`);
}
