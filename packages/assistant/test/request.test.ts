import { assistant, type ModelMessageLike, modelMessageFormat, toolResult, user } from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { describe, expect, test } from "vitest";
import { inCallOrder } from "../src/request.ts";
import { calling } from "./script.ts";

const calls = calling(["a", "t"], ["b", "t"], ["c", "t"]);
const result = (id: string): ModelMessageLike => toolResult(id, "t", id);

describe("results go out in the order of their calls", () => {
  test("message by message", () => {
    const messages = [user("Go"), calls, result("c"), result("a"), result("b"), assistant("Done.")];
    expect(inCallOrder<ModelMessageLike>(messages, modelMessageFormat)).toEqual([
      user("Go"),
      calls,
      result("a"),
      result("b"),
      result("c"),
      assistant("Done."),
    ]);
  });

  test("also within one message", () => {
    const parts = ["c", "a", "b"].flatMap((id) => (result(id) as ReturnType<typeof toolResult>).content);
    const sorted = ["a", "b", "c"].flatMap((id) => (result(id) as ReturnType<typeof toolResult>).content);
    const messages: ModelMessageLike[] = [calls, { role: "tool", content: parts }];
    expect(inCallOrder(messages, modelMessageFormat)).toEqual([calls, { role: "tool", content: sorted }]);
  });

  test("unless it holds approvals, which stay with them", () => {
    const approval = { type: "tool-approval-response", approvalId: "ok", approved: true };
    const parts = ["c", "a"].flatMap((id) => (result(id) as ReturnType<typeof toolResult>).content);
    const messages = [calls, { role: "tool", content: [...parts, approval] }] as ModelMessageLike[];
    expect(inCallOrder(messages, modelMessageFormat)).toEqual(messages);
  });

  test("apart, where their format joins nothing", () => {
    const { joined: _, ...format } = modelMessageFormat;
    const parts = ["b", "a"].flatMap((id) => (result(id) as ReturnType<typeof toolResult>).content);
    expect(inCallOrder<ModelMessageLike>([calls, { role: "tool", content: parts }], format)).toEqual([
      calls,
      result("a"),
      result("b"),
    ]);
  });

  test("of Anthropic's messages too", () => {
    const block = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: id });
    const asked: AnthropicMessage = {
      role: "assistant",
      content: ["a", "b"].map((id) => ({ type: "tool_use", id, name: "t", input: {} })),
    };
    const messages: AnthropicMessage[] = [asked, { role: "user", content: [block("b"), block("a")] }];
    const [, answer] = inCallOrder(messages, anthropicFormat);
    expect(answer?.content).toEqual([block("a"), block("b")]);
  });

  test("and what is in order stays the same message", () => {
    const messages = [calls, result("a"), result("b"), user("Go"), calls, result("b")];
    const ordered = inCallOrder<ModelMessageLike>(messages, modelMessageFormat);
    expect(ordered.every((message, index) => message === messages[index])).toBe(true);
    expect(ordered).toHaveLength(messages.length);
    const parts = ["a", "b"].flatMap((id) => (result(id) as ReturnType<typeof toolResult>).content);
    const together: ModelMessageLike = { role: "tool", content: parts };
    expect(inCallOrder<ModelMessageLike>([calls, together], modelMessageFormat)[1]).toBe(together);
  });

  test("results of calls that use an id twice keep their order", () => {
    const twice = calling(["a", "t"], ["a", "t"]);
    const messages = [twice, toolResult("a", "t", "first"), toolResult("a", "t", "second")];
    expect(inCallOrder<ModelMessageLike>(messages, modelMessageFormat)).toEqual(messages);
  });
});
