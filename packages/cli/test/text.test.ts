import { openaiFormat } from "@turnkeep/formats/openai";
import { describe, expect, it } from "vitest";
import { halfOf } from "../src/replay/replay.ts";
import { turnsAcross, turnsOf } from "../src/replay/turns.ts";
import { arrivalsOf } from "../src/terminal/arrivals.ts";
import { oneLine } from "../src/terminal/controls.ts";
import { cutTo, displayWidth } from "../src/terminal/display-width.ts";
import { wantsColour } from "../src/terminal/style.ts";
import { toolConversation } from "./folder.ts";

describe("cutTo", () => {
  it.each([
    ["short", 10, "short"],
    ["exactly ten", 11, "exactly ten"],
    ["one too long", 11, "one too lo…"],
    ["日本語です", 10, "日本語です"],
    ["日本語ですね", 10, "日本語で…"],
    ["👨‍👩‍👧👨‍👩‍👧", 4, "👨‍👩‍👧👨‍👩‍👧"],
    ["e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
  ])("%j at %i columns", (text, width, expected) => {
    expect(cutTo(text, width)).toBe(expected);
    expect(displayWidth(cutTo(text, width))).toBeLessThanOrEqual(width);
  });

  it("shows one line, whatever the text would do to a terminal", () => {
    expect(oneLine("a\nb\t\tc\r\n")).toBe("a b c");
    expect(oneLine("\u001b[31mred\u009b2J\u0007 \u202eright\u2066")).toBe("[31mred2J right");
    expect(cutTo("x".repeat(1_000_000), 5)).toBe("xxxx…");
  });
});

describe("turnsAcross", () => {
  const turns = [
    { number: 1, from: 0, to: 3 },
    { number: 2, from: 3, to: 5 },
    { number: 3, from: 5, to: 9 },
  ];

  it.each<[readonly number[], [number, number]]>([
    [[0], [1, 1]],
    [
      [2, 3],
      [1, 2],
    ],
    [
      [8, 4],
      [2, 3],
    ],
    [[5], [3, 3]],
  ])("%j", (indexes, expected) => {
    expect(turnsAcross(indexes, turns)).toEqual(expected);
  });

  it("takes more messages than a call may have arguments, and looks at few turns", () => {
    let looked = 0;
    const many = Array.from({ length: 100_000 }, (_, at) => ({
      number: at + 1,
      from: 2 * at,
      get to() {
        looked += 1;
        return 2 * at + 2;
      },
    }));
    const indexes = Array.from({ length: 200_000 }, (_, index) => index);
    expect(turnsAcross(indexes, many)).toEqual([1, 100_000]);
    expect(looked).toBeLessThan(50);
  });
});

describe("turnsOf", () => {
  const turns = (...roles: string[]) =>
    turnsOf(
      roles.map((role) => ({ role, content: "x" })),
      openaiFormat,
    ).map(({ from, to }) => [from, to]);

  it("begins a turn with each user message and the system message before it", () => {
    expect(turns("system", "user", "assistant", "user", "assistant")).toEqual([
      [0, 3],
      [3, 5],
    ]);
    expect(turns("system", "user", "assistant", "system", "user", "assistant")).toEqual([
      [0, 3],
      [3, 6],
    ]);
    expect(turns("assistant", "user", "user")).toEqual([
      [0, 2],
      [2, 3],
    ]);
    expect(turns("assistant", "assistant")).toEqual([[0, 2]]);
  });
});

describe("halfOf", () => {
  it.each([
    [[4], 2],
    [[5, 5], 6],
    [[3, 4, 3], 5],
    [[5, 1, 4], 5],
    [[1], 0],
    [[1, 1], 1],
    [[], 0],
  ])("%j turns: after %i, in the middle of a conversation where it can be", (turns, half) => {
    expect(halfOf(turns)).toBe(half);
  });
});

describe("arrivalsOf", () => {
  it("names calls and joins results", () => {
    const messages = [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [
          { id: "1", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "2", type: "function", function: { name: "g", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "one" },
      { role: "tool", tool_call_id: "2", content: "two" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }] },
    ];
    expect(arrivalsOf(messages, openaiFormat)).toEqual([
      { who: "user", text: "hi" },
      { who: "assistant", text: "calls f, g · Let me see." },
      { who: "tool", text: "2 results: one" },
      { who: "user", text: "[image/*]" },
    ]);
    expect(arrivalsOf(toolConversation("a", 1).messages.slice(2, 4), openaiFormat)).toEqual([
      { who: "assistant", text: "calls ask" },
      { who: "tool", text: "result: Result of question 1" },
    ]);
  });
});

describe("wantsColour", () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  ])("terminal %s with %j: %s", (isTerminal, env, colour) => {
    expect(wantsColour(isTerminal, env)).toBe(colour);
  });
});
