import { expect, test } from "vitest";
import { assistant, createChatMemory, entry, type ProviderProfile, user } from "../src/index.ts";

const profile: ProviderProfile = {
  name: "p",
  firstMessage: "any",
  reasoning: "any",
  shape: (messages) => ({ messages: [...messages], stages: [] }),
};

test("a call whose approval came too late is not left open once its step is the last again", async () => {
  const memory = createChatMemory();
  const call = { type: "tool-call" as const, toolCallId: "a", toolName: "t", input: {} };
  const request = { type: "tool-approval-request" as const, approvalId: "ok", toolCallId: "a" };
  await memory.add(user("Go"), assistant([call, request]), entry(assistant("Meanwhile"), { id: "said" }));
  const response = { type: "tool-approval-response" as const, approvalId: "ok", approved: true };
  await memory.add({ role: "tool", content: [response] });
  await memory.remove("said");
  const shown = await memory.messages({ profile });
  expect(JSON.stringify(shown.at(-1))).toContain("interrupted");
});
