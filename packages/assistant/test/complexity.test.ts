import { createChatMemory, entry, type ModelMessage, toolResult, user } from "@turnkeep/core";
import { expect, test } from "vitest";
import { type AssistantMessages, createAssistant, tool } from "../src/index.ts";
import { modelMessages } from "../src/model-messages.ts";
import { decided } from "./approval-support.ts";
import { assistant, calling, scripted } from "./script.ts";

/** Work that grows with the square of a turn's length, counted: times would depend on the machine. */

const many = 300;
const ids = Array.from({ length: many }, (_, n) => `c-${n}`);

/** Messages that count how often somebody looks at the id of a call or of a decision. */
function watched(): AssistantMessages<ModelMessage> & { looks: number } {
  const { toolCalls, approvals, ...rest } = modelMessages as AssistantMessages<ModelMessage>;
  const watch = <T extends object>(item: T, key: keyof T): T => {
    const value = item[key];
    return Object.defineProperty({ ...item }, key, {
      get: () => {
        messages.looks++;
        return value;
      },
    });
  };
  const messages: AssistantMessages<ModelMessage> & { looks: number } = {
    ...rest,
    looks: 0,
    toolCalls: (message) => toolCalls(message).map((call) => watch(call, "id")),
    approvals: approvals && {
      ...approvals,
      responses: (message) => approvals.responses(message).map((each) => watch(each, "approvalId")),
    },
  };
  return messages;
}

test("a turn whose calls are answered is read by looking at each a few times", async () => {
  const messages = watched();
  const memory = createChatMemory();
  await memory.add(entry(user("Go"), { id: "q-1" }), calling(...ids.map((id) => [id, "look"] as const)));
  await memory.add(...ids.toReversed().map((id) => toolResult(id, "look", "seen")));
  const model = scripted(assistant("Done."));
  const tools = { look: tool({ inputSchema: {}, execute: () => "never" }) };
  const chat = createAssistant({ memory, model, messages, tools });
  expect((await chat.chat("Go", { id: "q-1" })).toolResults).toHaveLength(many);
  expect(messages.looks).toBeLessThan(10 * many);
});

test("a decision behind many others is taken by looking at each a few times", async () => {
  const messages = watched();
  const memory = createChatMemory();
  const model = scripted(calling(...ids.map((id) => [id, "pay"] as const)), assistant("Done."));
  const tools = { pay: tool({ inputSchema: {}, needsApproval: true, execute: () => "paid" }) };
  const chat = createAssistant({ memory, model, messages, tools });
  const { approvalRequests } = await chat.chat("Go", { id: "q-1" });
  expect(messages.looks).toBeLessThan(10 * many);
  const approvals = approvalRequests.map(({ approvalId }) => ({ approvalId, approved: true }));
  const last = approvals.splice(-1);
  for (const [n, each] of approvals.entries())
    await memory.add(decided([each]), toolResult(`c-${n}`, "pay", "paid"));
  messages.looks = 0;
  expect((await chat.chat({ approvals: last }, { id: "q-1" })).toolResults).toHaveLength(many);
  expect(messages.looks).toBeLessThan(20 * many);
});
