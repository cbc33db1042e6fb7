import { describe, expect, test } from "vitest";
import {
  assistant,
  type ModelMessage,
  type ModelMessageLike,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { applyProcessors, toolCallFilter } from "../src/processors.ts";
import { call, assistant as parts, request, response, result, text, thought, tool } from "./format-parts.ts";

async function filtered(
  messages: readonly ModelMessageLike[],
  options?: Parameters<typeof toolCallFilter>[0],
): Promise<ModelMessageLike[]> {
  return applyProcessors(messages, [toolCallFilter(options)]);
}

const turn = (id: string, name = "read"): ModelMessage[] => [
  user(`question ${id}`),
  toolCall(id, name, {}),
  toolResult(id, name, "ok"),
  assistant(`answer ${id}`),
];
const kinds = (messages: readonly ModelMessageLike[]): string => messages.map(({ role }) => role[0]).join("");

describe("toolCallFilter", () => {
  test("leaves out calls and results, and keeps the text and reasoning beside them", async () => {
    const messages = [user("a"), parts(thought, text, call("1")), tool(result("1")), assistant("b")];
    expect(await filtered(messages)).toEqual([user("a"), parts(thought, text), assistant("b")]);
    expect(kinds(await filtered([...turn("1"), ...turn("2")]))).toBe("uaua");
  });

  test("where an id is used again, a result is that of the newest call that waits for one", async () => {
    const calls = [toolCall("1", "read", {}), toolCall("1", "write", {})];
    const [first, second] = [toolResult("1", "any", "first"), toolResult("1", "any", "second")];
    const messages = [...calls, first, second, assistant("b")];
    expect(await filtered(messages, { exclude: ["read"] })).toEqual([calls[1], first, assistant("b")]);
    expect(await filtered(messages, { exclude: ["write"] })).toEqual([calls[0], second, assistant("b")]);
  });

  test("calls of one answer that share an id stay, with all results, until all their tools are left out", async () => {
    const answer = parts({ ...call("1"), toolName: "read" }, { ...call("1"), toolName: "write" });
    const results = [toolResult("1", "read", "first"), toolResult("1", "write", "second")];
    const messages = [user("a"), answer, ...results, assistant("b")];
    for (const exclude of [["read"], ["write"]]) {
      expect(await filtered(messages, { exclude, keepLastSteps: 0 })).toEqual(messages);
    }
    expect(await filtered(messages, { exclude: ["write", "read"] })).toEqual([user("a"), assistant("b")]);
  });

  test("a result that came too early is that of the first call behind it, and of no other", async () => {
    const calls = [toolCall("1", "read", {}), toolCall("1", "write", {})];
    const [early, late] = [toolResult("1", "any", "early"), toolResult("1", "any", "late")];
    const messages = [early, ...calls, late, assistant("b")];
    expect(await filtered(messages, { exclude: ["write"] })).toEqual([early, calls[0], assistant("b")]);
    expect(await filtered(messages, { exclude: ["read"] })).toEqual([calls[1], late, assistant("b")]);
    const again = [early, ...calls, late, late];
    expect(await filtered(again, { exclude: ["write"], keepLastSteps: 0 })).toEqual([early, calls[0]]);
  });

  test("leaves out named tools only, wherever their results stand", async () => {
    const messages = [
      user("a"),
      parts(call("1"), call("2")),
      tool(result("1"), result("2")),
      parts(call("3")),
      tool(result("3")),
      assistant("b"),
    ];
    const shown = await filtered(messages, { exclude: ["t-1", "t-3"] });
    expect(shown).toEqual([user("a"), parts(call("2")), tool(result("2")), assistant("b")]);
    expect(await filtered(messages, { exclude: [] })).toEqual(messages);
    expect(await filtered(messages, { exclude: ["T-1", "t-1 ", "constructor", "__proto__"] })).toEqual(
      messages,
    );
  });

  test("matches a result to its call by id, whatever name it bears; one without a call goes by its own", async () => {
    const other = { ...result("1"), toolName: "other" };
    const messages = [user("a"), parts(call("1")), tool(other), tool(result("9")), assistant("b")];
    expect(await filtered(messages, { exclude: ["other"] })).toEqual(messages);
    expect(kinds(await filtered(messages, { exclude: ["t-1"] }))).toBe("uta");
    expect(kinds(await filtered(messages, { exclude: ["t-9"] }))).toBe("uata");
  });

  test("tells apart calls that have the same id", async () => {
    const messages = [...turn("same", "read"), ...turn("same", "write"), user("b")];
    const shown = await filtered(messages, { exclude: ["read"] });
    expect(shown).toEqual([messages[0], messages[3], ...messages.slice(4)]);
    expect(kinds(await filtered(messages, { keepLastSteps: 1 }))).toBe("uauatau");
  });

  test("keeps what the model is working on until it has answered", async () => {
    const running = [...turn("1"), ...turn("2").slice(0, 3), ...turn("3").slice(1, 3)];
    expect(kinds(await filtered(running))).toBe("uauatat");
    expect(kinds(await filtered([...running, assistant("done")]))).toBe("uaua");
    expect(kinds(await filtered([...turn("1"), ...turn("2").slice(0, 2)]))).toBe("uaua");
    expect(await filtered([...turn("1"), ...turn("2").slice(0, 2)])).toContainEqual(
      toolCall("2", "read", {}),
    );
    expect(kinds(await filtered(running, { keepLastSteps: 0 }))).toBe("uau");
    expect(kinds(await filtered(running, { exclude: ["read"] }))).toBe("uauatat");
    const unanswered = turn("1").slice(0, 2);
    expect(kinds(await filtered([...unanswered, ...turn("2").slice(0, 3)]))).toBe("uuat");
    const unasked = [...turn("1").slice(1, 3), ...turn("2").slice(1, 3)];
    expect(await filtered(unasked)).toEqual(unasked);
  });

  test("keeps what the model works on unasked, and leaves out what led to any answer", async () => {
    const works = [toolCall("1", "read", {}), toolResult("1", "read", "ok"), toolCall("2", "read", {})];
    expect(await filtered(works)).toEqual(works);
    const thoughtLast = parts(text, thought);
    expect(await filtered([...turn("1").slice(0, -1), thoughtLast])).toEqual([
      user("question 1"),
      thoughtLast,
    ]);
    const one = { ...call("1"), providerExecuted: true };
    const open = parts(one, result("1"), call("2"), text);
    expect(await filtered([user("a"), open])).toEqual([user("a"), open]);
    expect(await filtered([user("a"), tool(result("1")), parts(call("1"), text)])).toEqual([
      user("a"),
      parts(text),
    ]);
  });

  test("keeps the newest steps with calls, and all within them", async () => {
    const messages = [...turn("1"), ...turn("2"), ...turn("3"), user("b")];
    expect(kinds(await filtered(messages, { keepLastSteps: 2 }))).toBe("uauatauatau");
    expect(kinds(await filtered(messages, { keepLastSteps: 9 }))).toBe("uatauatauatau");
    expect(kinds(await filtered(messages, { keepLastSteps: 1, exclude: ["write"] }))).toBe("uatauatauatau");
  });

  test("splits no pair when one message answers calls of two steps", async () => {
    const messages = [
      user("a"),
      parts(call("1")),
      parts(text, call("2")),
      tool(result("1"), result("2")),
      user("b"),
    ];
    expect(await filtered(messages, { keepLastSteps: 1 })).toEqual([
      user("a"),
      parts(text, call("2")),
      tool(result("2")),
      user("b"),
    ]);
  });

  test("leaves out the approvals of what it leaves out, and no other", async () => {
    const messages = [
      user("a"),
      parts(call("1"), call("2"), request("1"), request("2")),
      tool(response("1"), response("2")),
      tool(result("1"), result("2")),
      assistant("b"),
    ];
    expect(await filtered(messages, { exclude: ["t-1"] })).toEqual([
      user("a"),
      parts(call("2"), request("2")),
      tool(response("2")),
      tool(result("2")),
      assistant("b"),
    ]);
    expect(kinds(await filtered(messages))).toBe("ua");
  });

  test("leaves out what a provider ran itself as well", async () => {
    const own = { ...call("1"), providerExecuted: true };
    const messages = [user("a"), parts(own, result("1"), text), user("b")];
    expect(await filtered(messages)).toEqual([user("a"), parts(text), user("b")]);
    expect(await filtered(messages.slice(0, 2))).toEqual([user("a"), parts(text)]);
    const working = [user("a"), parts(text, own, result("1"))];
    expect(await filtered(working)).toEqual(working);
    const waiting = [user("a"), parts(call("1"), text)];
    expect(await filtered(waiting)).toEqual(waiting);
  });

  test("leaves the newest step where there would be nothing to send", async () => {
    const calls = [...turn("1").slice(1, 3), ...turn("2").slice(1, 3)];
    expect(await filtered([system("s"), ...calls], { keepLastSteps: 0 })).toEqual([
      system("s"),
      ...calls.slice(2),
    ]);
    expect(await filtered([system("s")])).toEqual([system("s")]);
    expect(await filtered([])).toEqual([]);
    // What the model thought before it called is no reason to send the thought alone.
    const thoughtful = [parts({ type: "reasoning", text: "hm" }, call("1")), tool(result("1"))];
    expect(await filtered(thoughtful, { keepLastSteps: 0 })).toEqual(thoughtful);
  });

  test.each<[string, unknown]>([
    ["options that are none", "read"],
    ["one name in place of a list", { exclude: "read" }],
    ["null in place of a list", { exclude: null }],
    ["a list with something else", { exclude: [1] }],
    ["a negative number of steps", { keepLastSteps: -1 }],
    ["a fraction of a step", { keepLastSteps: 0.5 }],
  ])("refuses %s", (_, options) => {
    expect(() => toolCallFilter(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});
