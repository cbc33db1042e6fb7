import { createChatMemory } from "@turnkeep/core";
import { expect, test } from "vitest";
import { anthropicFormat as format } from "../src/anthropic.ts";
import { gemini, validate } from "../src/profiles.ts";

test("results beside what a user said are no matter of the next answer's order", async () => {
  const use = (id: string) => ({ type: "tool_use" as const, id, name: id, input: {} });
  const result = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: id });
  const memory = createChatMemory({ format });
  await memory.add(
    { role: "user", content: "Go" },
    { role: "assistant", content: [use("c1")] },
    { role: "user", content: [result("c1"), { type: "text", text: "Hurry" }] },
    { role: "assistant", content: [use("c2"), use("c1")] },
    { role: "user", content: [result("c2"), result("c1")] },
  );
  const shown = await memory.messages({ profile: gemini });
  expect(shown.at(-1)?.content).toEqual([result("c2"), result("c1")]);
  expect(validate(shown, gemini, { format })).toEqual([]);
});
