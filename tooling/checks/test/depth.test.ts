import type { ModelMessageLike } from "@turnkeep/core";
import { expect, test } from "vitest";
import { measuredFunctions } from "../src/growth/functions.ts";

/** A value nested deeper than any engine calls functions within each other is taken or refused in our words. */

const levels = 100_000;
const text = "[".repeat(levels) + "]".repeat(levels);

function nested(): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

function called(input: unknown, output: unknown): ModelMessageLike[] {
  const of = { toolCallId: "a", toolName: "look" };
  return [
    { role: "user", content: "Go" },
    { role: "assistant", content: [{ type: "tool-call", ...of, input } as { type: string }] },
    { role: "tool", content: [{ type: "tool-result", ...of, output } as { type: string }] },
    { role: "assistant", content: "Done." },
  ];
}

const conversations: Readonly<Record<string, () => ModelMessageLike[]>> = {
  "of a call": () => called(nested(), { type: "text", value: "seen" }),
  "of a result": () => called({}, { type: "json", value: nested() }),
  "in the text of a result": () => called({}, { type: "text", value: text }),
  "in the text of a call": () => called(text, { type: "text", value: "seen" }),
};

const functions = await measuredFunctions();

test.each(Object.entries(functions))("%s", async (_, prepare) => {
  const broken: Record<string, unknown> = {};
  for (const [where, make] of Object.entries(conversations)) {
    try {
      const run = await prepare(make());
      await run();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "INVALID_MESSAGE") broken[where] = error;
    }
  }
  expect(broken).toEqual({});
});
