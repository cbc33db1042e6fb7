import { gate, until } from "@turnkeep/store-tests/gate";
import { tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ChatMessage } from "../src/index.ts";
import { line } from "./browser.ts";
import { approvalIn, booking, settled, stored, storedLines, world } from "./chat-server.ts";
import { callsTool, says } from "./models.ts";

test("a call that two tabs approve at once is carried out once", async () => {
  const { server, prompts } = world(callsTool("book", { city: "Oslo" }), says("Booked."));
  const { tools, count } = booking();
  const { memories, tab, transport } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  const other = tab((await transport().history("chat-1")).messages);
  expect(chat.messages.map(line)).toEqual(["user: Book it.", "assistant: [approval-requested]"]);
  await Promise.all(
    [chat, other].map(async (chat) => {
      await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: true });
      await settled(chat);
    }),
  );
  expect(count()).toBe(1);
  expect(prompts).toHaveLength(2);
  expect(
    [chat.error, other.error].filter((error) => error !== undefined).map(({ message }) => message),
  ).toEqual([expect.stringContaining("No call waits")]);
  const all = ["user: Book it.", "assistant: [output-available] Booked."];
  expect(await storedLines(memories)).toEqual(all);
  const [, answer] = await stored(memories);
  expect(answer?.metadata).toEqual({
    status: "done",
    usage: { inputTokens: 80, outputTokens: 16, cachedInputTokens: 60 },
  });
});

test("a call that the user refuses is not carried out", async () => {
  const { server } = world(callsTool("book", { city: "Oslo" }), says("Not booked."));
  const { tools, count } = booking();
  const { memories, tab } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: false, reason: "Too dear." });
  await settled(chat);
  expect(count()).toBe(0);
  expect(await storedLines(memories)).toEqual(["user: Book it.", "assistant: [output-denied] Not booked."]);
});

test("a call with more input than a request may have is approved like any other", async () => {
  const { server, failures } = world(callsTool("book", { city: "O".repeat(300_000) }), says("Booked."));
  const { tools, count } = booking();
  const { tab } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: true });
  await settled(chat);
  expect(chat.messages.map(line).at(-1)).toBe("assistant: [output-available] Booked.");
  expect([chat.error, count(), failures]).toEqual([undefined, 1, []]);
});

test.each([true, false])(
  "a decision that leaves no room for the answer is refused, and the calls wait on (approved: %s)",
  async (approved) => {
    let maxMessages = 40;
    const { server, failures } = world(callsTool("book", { city: "Oslo" }), says("Done."));
    const { tools, count } = booking();
    const { memories, tab, transport } = server({
      tools,
      // A token is a message here.
      window: {
        maxTokens: () => maxMessages,
        counter: { name: "messages", count: () => 1 },
        reserve: 10,
        unit: "turn",
      },
    });
    const chat = tab();
    await chat.sendMessage({ text: "Book it." });
    maxMessages = 11;
    await chat.addToolApprovalResponse({ id: approvalIn(chat), approved });
    await settled(chat);
    expect(chat.error).toMatchObject({ statusCode: 413 });
    const [, answer] = await stored(memories);
    expect((answer as ChatMessage).metadata?.status).toBe("done");
    expect(await storedLines(memories)).toEqual(["user: Book it.", "assistant: [approval-requested]"]);
    maxMessages = 40;
    const again = tab((await transport().history("chat-1")).messages);
    await again.addToolApprovalResponse({ id: approvalIn(again), approved });
    await settled(again);
    expect(count()).toBe(approved ? 1 : 0);
    expect((await storedLines(memories)).at(-1)).toMatch(/Done\.$/);
    expect(failures).toEqual([]);
  },
);

test.each([
  ["that is deleted", -1, ["user: Pay."]],
  ["whose question is deleted", -2, ["assistant: [input-available]"]],
])(
  "an answer %s while it is being made ends at once, and the next question does not wait for it",
  async (_what, place, left) => {
    const begun = gate();
    const tools = {
      pay: tool({
        inputSchema: z.object({}),
        execute: (_, { abortSignal }) =>
          new Promise<string>((_resolve, reject) => {
            abortSignal?.addEventListener("abort", () => reject(abortSignal.reason));
            begun.open();
          }),
      }),
    };
    const titled: string[][] = [];
    const title = (messages: UIMessage[]): string => {
      titled.push(messages.map(line));
      return "Pay";
    };
    const { server, failures } = world(callsTool("pay"), says("Yes?"));
    const { memories, tab, transport } = server({ tools, title });
    const chat = tab();
    const asked = chat.sendMessage({ text: "Pay." });
    await begun.opened;
    // Once that is kept, nothing more is, which would find the answer gone.
    await until(async () => (await storedLines(memories)).at(-1) === "assistant: [input-available]");
    // Of another tab.
    const { messages } = await transport().history("chat-1");
    await transport().deleteMessage("chat-1", messages.at(place)?.id as string);
    await asked;
    expect(await storedLines(memories)).toEqual(left);
    await tab(messages).sendMessage({ text: "Wait." });
    expect(await storedLines(memories)).toEqual([...left, "user: Wait.", "assistant: Yes?"]);
    await until(async () => (await transport().chat("chat-1")).title !== undefined);
    // Of a question that is not there any more, none is made.
    expect(titled.some((lines) => lines[0] === "user: Pay." && lines.length === 2)).toBe(place === -1);
    expect(failures).toEqual([]);
  },
);
