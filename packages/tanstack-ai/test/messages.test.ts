import type { ModelMessage } from "@tanstack/ai";
import { expect, it } from "vitest";
import { isWhole, withoutOldCalls } from "../src/middleware/messages.ts";
import { question, told } from "./chats.ts";

const call = { id: "c1", type: "function" as const, function: { name: "search", arguments: "{}" } };
const ours: ModelMessage = { role: "assistant", content: "Let me see.", toolCalls: [call] };
const servers: ModelMessage = {
  ...ours,
  toolCalls: [{ ...call, id: "s1", metadata: { providerExecuted: true } }],
};
const result: ModelMessage = { role: "tool", content: "Found.", toolCallId: "c1" };

it("answers what was left open of an older question, but for what the provider runs itself", () => {
  const closed = (...messages: ModelMessage[]) => withoutOldCalls(messages, () => undefined).map(told);
  expect(closed(question("One"), ours, servers, question("Two"), ours)).toEqual([
    "user: One",
    "assistant: Let me see.[search]",
    expect.stringContaining("interrupted"),
    "assistant: Let me see.[search]",
    "user: Two",
    "assistant: Let me see.[search]",
  ]);
  expect(closed(ours, result, question("Two"))).toHaveLength(3);
});

it("knows an answer that waits for nothing", () => {
  expect([ours, servers, result, { ...ours, toolCalls: [] }].map(isWhole)).toEqual([
    false,
    true,
    false,
    true,
  ]);
});
