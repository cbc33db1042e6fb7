import { user } from "@turnkeep/core";
import { afterEach, expect, it, vi } from "vitest";
import { openaiCompatible } from "../src/openai-compatible.ts";

afterEach(() => vi.unstubAllGlobals());

it("names a call without an id where a page has no crypto.randomUUID", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const call = { function: { name: "weather", arguments: "{}" } };
  const choices = [{ message: { role: "assistant", tool_calls: [call] }, finish_reason: "tool_calls" }];
  const model = openaiCompatible({
    baseUrl: "http://192.168.0.9/v1",
    model: "m",
    fetch: async () => Response.json({ choices }),
  });
  const { signal } = new AbortController();
  const { message } = await model({
    messages: [user("Hello")],
    tools: [],
    toolChoice: "auto",
    memoryId: "one",
    signal,
  });
  expect(message.content).toMatchObject([
    { type: "tool-call", toolCallId: expect.stringMatching(/^call_[0-9a-f]{32}$/) },
  ]);
});
