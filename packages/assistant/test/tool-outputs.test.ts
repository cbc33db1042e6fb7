import { runInNewContext } from "node:vm";
import { createChatMemory } from "@turnkeep/core";
import { expect, test } from "vitest";
import { type ChatResult, createAssistant, tool } from "../src/index.ts";
import { assistant, calling, scripted } from "./script.ts";

async function toolResults(outputs: readonly (() => unknown)[]): Promise<ChatResult<unknown>["toolResults"]> {
  const rest = outputs.values();
  const t = tool({ inputSchema: {}, execute: () => rest.next().value?.() });
  const model = scripted(calling(...outputs.map((_, n) => [`c${n}`, "t"] as const)), assistant("Done."));
  const chat = createAssistant({ memory: createChatMemory(), model, tools: { t } });
  return (await chat.chat("Go")).toolResults;
}

test.each<[string, () => unknown, string]>([
  ["an error, as it catches it", () => Object.assign(new Error("no seat"), { key: "s3cret" }), "no seat"],
  ["a Map", () => new Map([["seat", 7]]), "(Map)"],
  ["a Response that nobody has read", async () => new Response("seat 7"), "(Response)"],
  // As a tool of the AI SDK may.
  [
    "parts one after another",
    async function* () {
      yield "seat 7";
    },
    "(AsyncGenerator)",
  ],
])(
  "a tool that returns %s has failed: the model is not told that it returned nothing",
  async (_, execute, text) => {
    const [result] = await toolResults([execute]);
    expect(result).toMatchObject({ isError: true, output: expect.stringContaining(text) });
    expect(result?.output).not.toContain("s3cret");
  },
);

test("a tool may return an empty object, whoever made it, or one that says itself what it is in JSON", async () => {
  const outputs = [{}, Object.create(null), runInNewContext("({})"), { toJSON: () => ({}) }];
  const results = await toolResults(outputs.map((output) => () => output));
  expect(results).toMatchObject(outputs.map(() => ({ isError: false, output: {} })));
});
