import { chatHandler } from "@turnkeep/ai-sdk";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { tool, type UIMessage } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { chatOf, decide, load, loadEarlier, withRefused } from "../template/src/chats.ts";

/** A server over a store in memory, for the page's relative addresses, and what the page posts. */
function served(id: string) {
  const memories = createChatMemories({ store: inMemoryStore(), format: uiMessageFormat<UIMessage>() });
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const said = [
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Booked." },
    { type: "text-end", id: "0" },
    { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } },
  ] as const;
  const model = new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...said] }) }),
  });
  const book = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "Seat 7" });
  const handler = chatHandler({ memories, owner: () => "ann", model, tools: { book } });
  const posts: unknown[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (init.method === "POST") posts.push(url);
    return handler(new Request(new URL(url, "http://localhost"), init));
  });
  return { memory: memories.get(id, { owner: "ann" }), posts };
}

const question: UIMessage = { id: "q", role: "user", parts: [{ type: "text", text: "Book it." }] };

function answer(status: string, state: string, approval: object): UIMessage {
  const call = { type: "tool-book", toolCallId: "c", input: {}, state, approval: { id: "1", ...approval } };
  return { id: "a", role: "assistant", metadata: { status }, parts: [call] } as unknown as UIMessage;
}

test("what was decided on another device is not sent again where the answer is stopped", async () => {
  const { memory, posts } = served("chat-1");
  const decided = (status: string) => answer(status, "approval-responded", { approved: true });
  const chat = chatOf("chat-1");
  await memory.turn(async () => {
    await memory.add(question, decided("streaming"));
    await load(chat);
    await vi.waitUntil(() => chat.status === "streaming", { timeout: 10_000 });
    const [, stored] = await memory.entries();
    await memory.put(stored?.id ?? "", decided("stopped"));
  });
  await vi.waitUntil(() => chat.status === "ready", { timeout: 10_000 });
  expect(chat.lastMessage?.metadata?.status).toBe("stopped");
  expect(posts).toEqual([]);
  expect(chat.error).toBeUndefined();
});

test("what is decided here is sent, also of an answer that was cut off", async () => {
  const { memory, posts } = served("chat-2");
  await memory.add(question, answer("interrupted", "approval-requested", {}));
  const chat = chatOf("chat-2");
  await load(chat);
  await decide(chat, "1", true);
  expect(posts).toEqual(["/api/chat"]);
  expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ type: "text", text: "Booked." });
});

test("earlier messages come once, however often they are asked for at once", async () => {
  const { memory } = served("chat-3");
  const said = Array.from({ length: 60 }, (_, index) => ({ ...question, id: `q-${index}` }));
  await memory.add(...said);
  const chat = chatOf("chat-3");
  const page = await load(chat);
  const before = page?.before as number;
  const shown = await Promise.all([loadEarlier(chat, before), loadEarlier(chat, before)]);
  expect(shown.filter((page) => page !== undefined)).toHaveLength(1);
  expect(chat.messages.map(({ id }) => id)).toEqual(said.map(({ id }) => id));
});

test.each([
  ["", "Refused"],
  ["And this", "Refused\nAnd this"],
  ["Refused\nAnd this", "Refused\nAnd this"],
])("a question that was refused and what is written meanwhile both stay (%j)", (draft, joined) => {
  expect(withRefused(draft, "Refused")).toBe(joined);
});
