import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type ModelMessageLike,
  toolResult,
  user,
} from "../src/index.ts";
import { orderToolResults } from "../src/processors.ts";
import { conversation } from "./processors-support.ts";

const calls = (...ids: readonly string[]): ModelMessageLike =>
  assistant(ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "t", input: {} })));
const result = (id: string, text = id) => toolResult(id, "t", text);
const approval = { type: "tool-approval-response" as const, approvalId: "ok", approved: true };
const approves: ModelMessageLike = { role: "tool", content: [approval] };
const together = (...ids: readonly string[]): ModelMessageLike => ({
  role: "tool",
  content: ids.flatMap((id) => result(id).content),
});

const order = (...messages: readonly ModelMessageLike[]) => orderToolResults(messages, { format });

describe("results stand in the order of their calls", () => {
  test("message by message", () => {
    const ordered = order(
      user("Go"),
      calls("a", "b", "c"),
      result("c"),
      result("a"),
      result("b"),
      assistant("Done."),
    );
    expect(ordered).toEqual([
      user("Go"),
      calls("a", "b", "c"),
      ...["a", "b", "c"].map((id) => result(id)),
      assistant("Done."),
    ]);
  });

  test("within one message", () => {
    expect(order(calls("a", "b", "c"), together("c", "a", "b"))).toEqual([
      calls("a", "b", "c"),
      together("a", "b", "c"),
    ]);
  });

  test("where calls share an id, the first result of it with the first of them", () => {
    const [first, second] = [result("a", "1"), result("a", "2")];
    expect(order(calls("a", "b", "a"), result("b"), first, second)).toEqual([
      calls("a", "b", "a"),
      first,
      result("b"),
      second,
    ]);
  });

  test("across messages of which one holds several", () => {
    expect(order(calls("a", "b", "c"), together("c", "a"), result("b"))).toEqual([
      calls("a", "b", "c"),
      together("a", "b", "c"),
    ]);
  });

  test("apart, where their format joins nothing", () => {
    const { joined: _, ...own } = format;
    expect(orderToolResults([calls("a", "b"), together("b", "a")], { format: own })).toEqual([
      calls("a", "b"),
      result("a"),
      result("b"),
    ]);
  });

  test("of calls that several messages make", () => {
    expect(order(calls("a"), calls("b"), result("b"), result("a"))).toEqual([
      calls("a"),
      calls("b"),
      result("a"),
      result("b"),
    ]);
  });

  test("of each answer by itself, though they use the same ids", () => {
    const messages = [
      calls("a", "b"),
      result("b", "1"),
      result("a", "2"),
      calls("b", "a"),
      result("a"),
      result("b"),
    ];
    expect(order(...messages)).toEqual([
      calls("a", "b"),
      result("a", "2"),
      result("b", "1"),
      calls("b", "a"),
      result("b"),
      result("a"),
    ]);
  });

  test("and those without a call behind them", () => {
    expect(order(calls("a", "b"), result("x"), result("b"), result("a"))).toEqual([
      calls("a", "b"),
      result("a"),
      result("b"),
      result("x"),
    ]);
  });
});

describe("approvals", () => {
  test("between results keep their places", () => {
    expect(order(calls("a", "b"), result("b"), approves, result("a"))).toEqual([
      calls("a", "b"),
      result("a"),
      approves,
      result("b"),
    ]);
  });

  test("beside a result stand in front of the results, in one message with them", () => {
    const both: ModelMessageLike = { role: "tool", content: [...result("b").content, approval] };
    expect(order(calls("a", "b"), both, result("a"))).toEqual([
      calls("a", "b"),
      { role: "tool", content: [approval, ...together("a", "b").content] },
    ]);
  });
});

describe("what stays", () => {
  test("messages that are in order are the same ones", () => {
    const messages = [
      calls("a", "b"),
      result("a"),
      result("b"),
      user("Go"),
      calls("a", "b"),
      result("b"),
      calls("a", "b"),
      together("a", "b"),
    ];
    const ordered = order(...messages);
    expect(ordered).toHaveLength(messages.length);
    for (const [index, message] of ordered.entries()) expect(message).toBe(messages[index]);
  });

  test("results of calls that use an id twice keep their order", () => {
    const messages = [calls("a", "a"), result("a", "first"), result("a", "second")];
    expect(order(...messages)).toEqual(messages);
  });

  test("results of one tool do not move to and fro where another's call shares their id", () => {
    const call = (toolName: string) => ({ type: "tool-call" as const, toolCallId: "a", toolName, input: {} });
    const messages = [
      assistant([call("t"), call("u")]),
      toolResult("a", "u", "first"),
      toolResult("a", "u", "second"),
    ];
    expect(order(...messages)).toEqual(messages);
  });

  test("nothing is lost, doubled or changed, and doing it again changes nothing", () => {
    const shuffled = conversation.chain((messages) =>
      fc.shuffledSubarray(messages, { minLength: messages.length }),
    );
    fc.assert(
      fc.property(shuffled, (messages) => {
        const before = structuredClone(messages);
        const ordered = order(...messages);
        expect(messages).toEqual(before);
        const parts = (list: readonly ModelMessageLike[]) =>
          list
            .flatMap(({ role, content }) => [content].flat().map((part) => JSON.stringify([role, part])))
            .sort();
        expect(parts(ordered)).toEqual(parts(messages));
        const others = (list: readonly ModelMessageLike[]) => list.filter(({ role }) => role !== "tool");
        expect(others(ordered)).toEqual(others(messages));
        expect(order(...ordered)).toEqual(ordered);
      }),
    );
  });

  test("keeps all results of a format that asks more than once of each", () => {
    const asking: typeof format = {
      ...format,
      without: (message, omission) => {
        for (const { id } of format.toolResults(message)) omission.toolResults?.(id);
        return format.without(message, omission);
      },
    };
    const messages = [calls("a", "b", "c"), together("c", "a", "b")];
    expect(orderToolResults(messages, { format: asking })).toEqual(order(...messages));
    expect(order(...messages)[1]).toEqual(together("a", "b", "c"));
  });

  test("takes the format of what has one, as a memory has, and refuses to be given none", () => {
    expect(orderToolResults([calls("a")], createChatMemory<ModelMessageLike>())).toEqual([calls("a")]);
    expect(() => orderToolResults([], undefined as never)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining("second argument"),
      }),
    );
  });
});
