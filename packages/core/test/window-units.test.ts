import { expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  type ProviderProfile,
  system,
  user,
  type WindowUnit,
} from "../src/index.ts";
import type { Processor } from "../src/processors.ts";
import { plain } from "./plain-profile.ts";

const userFirst: ProviderProfile = { ...plain, firstMessage: "user" };

/** A memory of a few short messages, in which the last of an odd number is a question. */
async function shown(
  window: { readonly unit?: WindowUnit; readonly maxMessages: number; readonly overflow?: "evict" | "keep" },
  more: { readonly profile?: ProviderProfile; readonly processors?: readonly Processor<never>[] } = {},
): Promise<unknown[]> {
  const memory = createChatMemory({ window, ...(more as object) });
  await memory.add(user("1"), assistant("2"), user("3"), assistant("4"), user("5"), assistant("6"));
  const messages = await memory.messages();
  return messages.map(({ content }) => content);
}

test("without a unit, a window evicts by step, or by turn where the provider wants the user's message first", async () => {
  expect(await shown({ maxMessages: 5 })).toEqual(["2", "3", "4", "5", "6"]);
  expect(await shown({ maxMessages: 5 }, { profile: plain })).toEqual(["2", "3", "4", "5", "6"]);
  expect(await shown({ maxMessages: 5 }, { profile: userFirst })).toEqual(["3", "4", "5", "6"]);
  expect(await shown({ maxMessages: 5, unit: "step" }, { profile: userFirst })).toEqual([
    "2",
    "3",
    "4",
    "5",
    "6",
  ]);
});

/** Puts a note in front of every message, so that a shorter list has fewer. */
const notes: Processor<never> = {
  name: "notes",
  process: (messages: readonly unknown[]) =>
    messages.flatMap((message) => [user("note"), message]) as never[],
};

test.each<[WindowUnit, unknown[]]>([
  ["step", ["note", "6"]],
  ["turn", ["note", "5", "note", "6"]],
  ["message", []],
])("by %s, what a processor adds displaces the newest or not: %j", async (unit, left) => {
  expect(await shown({ unit, maxMessages: 4, overflow: "evict" }, { processors: [notes] })).toEqual(left);
});

test.each<[WindowUnit, boolean]>([
  ["step", false],
  ["turn", false],
  ["message", true],
])(
  "with overflow evict and unit %s, a system message that does not fit is shown all the same: %s",
  async (unit, isShown) => {
    const counter = { name: "characters", count: (message: unknown) => JSON.stringify(message).length };
    const memory = createChatMemory({ window: { unit, maxTokens: 100, counter, overflow: "evict" } });
    await memory.add(system("Be brief. ".repeat(20)));
    if (isShown) expect(await memory.messages()).toHaveLength(1);
    else await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
  },
);
