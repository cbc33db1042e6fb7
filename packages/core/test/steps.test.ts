import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { stepsOf } from "../src/steps/live.ts";
import { formatWith } from "./step-messages.ts";

const call = toolCall("c", "look", {});
const result = toolResult("c", "look", "r");
const other = toolCall("d", "look", {});
const otherResult = toolResult("d", "look", "r");
const searched = assistant([
  { type: "tool-call", toolCallId: "s", toolName: "search", input: {}, providerExecuted: true },
]);
const found = toolResult("s", "search", "r");
const asked = assistant([
  { type: "tool-call", toolCallId: "p", toolName: "pay", input: {} },
  { type: "tool-approval-request", approvalId: "ask", toolCallId: "p" },
]);
const approved: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "ask", approved: true }],
};

describe("which messages are one step", () => {
  test.each<[string, ModelMessage[], string, string]>([
    ["messages without calls", [system("s"), user("a"), assistant("b")], "0 | 1 | 2", "0 | 1 | 2"],
    ["a call and its result", [call, result, assistant("b")], "0 1 | 2", "0 1 | 2"],
    ["a result that comes late", [call, user("a"), result], "0 2 | 1", "0 2 | 1"],
    ["one behind another answer", [call, user("a"), assistant("b"), result], "0 3 | 1 | 2", "0 3 | 1 | 2"],
    ["a result that nobody asked for", [user("a"), result], "0 | 1", "0 | 1"],
    ["calls stored one by one", [call, other, result, otherResult], "0 1 2 3", "0 1 2 3"],
    [
      "calls with words between",
      [call, assistant("a"), other, otherResult, result],
      "0 1 2 3 4",
      "0 1 2 3 4",
    ],
    ["calls of which none is answered yet", [assistant("a"), call, other], "0 | 1 2", "0 1 2"],
    ["a call behind an answered one", [call, result, other, otherResult], "0 1 | 2 3", "0 1 | 2 3"],
    [
      "a call behind a question",
      [call, user("a"), other, otherResult, result],
      "0 4 | 1 | 2 3",
      "0 4 | 1 | 2 3",
    ],
    ["words behind a call that waits", [call, assistant("a"), result], "0 2 | 1", "0 1 2"],
    ["a call behind one that its provider runs", [searched, call, result], "0 | 1 2", "0 1 2"],
    ["two answers", [assistant("a"), assistant("b")], "0 | 1", "0 1"],
    [
      "answers with a question between",
      [assistant("a"), user("b"), assistant("c")],
      "0 | 1 | 2",
      "0 | 1 | 2",
    ],
    ["an answer behind a result", [assistant("a"), call, result, assistant("b")], "0 | 1 2 | 3", "0 1 2 | 3"],
    ["one behind what its provider found", [searched, found, assistant("b")], "0 1 | 2", "0 1 2"],
    ["one behind the approval it waited for", [asked, approved, assistant("b")], "0 1 | 2", "0 1 2"],
  ])("%s", (_, messages, whole, inParts) => {
    for (const [answersInParts, expected] of [
      [false, whole],
      [true, inParts],
    ] as const) {
      const steps = stepsOf(messages, formatWith(answersInParts));
      expect(steps.map(({ items }) => items.map(({ seq }) => seq).join(" ")).join(" | ")).toBe(expected);
    }
  });

  test("a derived message is a step of its own, also where answers come in parts", async () => {
    const memory = createChatMemory<ModelMessage>({ format: formatWith(true) });
    const [, first, second] = await memory.add(user("a"), assistant("b"), assistant("c"));
    await memory.compact({ through: first, replacement: assistant("summary") });
    await memory.remove(second);
    expect(await memory.messages()).toEqual([assistant("summary")]);
  });
});
