import {
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  toolResult,
} from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { describe, expect, test } from "vitest";
import { type ChatEvent, createAssistant, tool } from "../src/index.ts";
import { noUsage } from "../src/usage.ts";
import { asking, conversation, decision, id, outputsOf, question } from "./approval-support.ts";
import { assistant, calling, scripted, toolCall } from "./script.ts";

const paying = toolCall("c-pay", "pay", { amount: 90 });

describe("a call that needs approval", () => {
  test("waits, and the other calls of its answer run", async () => {
    const { process, runs } = conversation();
    const { chat, memory } = process(asking);
    const result = await chat.chat("Go", { id });
    expect(result).toMatchObject({
      text: "",
      finishReason: "approval",
      approvalRequests: [
        { call: { id: "c-pay", name: "pay", input: { amount: 90 } } },
        { call: { id: "c-send", name: "send", input: {} } },
      ],
      toolResults: [{ toolCallId: "c-look", output: "result of c-look" }],
      id,
      memoryId: "chat",
      continued: false,
    });
    expect(runs).toEqual(["c-look"]);
    const [pay, send] = result.approvalRequests.map(({ approvalId }) => approvalId);
    expect(pay).not.toBe(send);
    const [, answer, ...rest] = await memory.messages();
    expect(answer?.content).toEqual([
      ...(asking.content as unknown[]),
      { type: "tool-approval-request", approvalId: pay, toolCallId: "c-pay" },
      { type: "tool-approval-request", approvalId: send, toolCallId: "c-send" },
    ]);
    expect(result.messages).toEqual([answer]);
    expect(rest).toEqual([toolResult("c-look", "look", "result of c-look")]);
  });

  test("is written with its request, all at once", async () => {
    const store = inMemoryStore();
    const written: string[] = [];
    const { updateMessages } = store;
    store.updateMessages = (memoryId, update, options) => {
      written.push(update.append.map(({ payload }) => payload).join());
      return updateMessages.call(store, memoryId, update, options);
    };
    await conversation({ store }).process(paying).chat.chat("Go", { id });
    expect(written.filter((text) => text.includes("c-pay"))).toEqual([
      expect.stringContaining("tool-approval-request"),
    ]);
  });

  test("runs once it is approved, and the model goes on", async () => {
    const { process, runs } = conversation();
    const { chat, memory, model } = process(paying, assistant("Paid."));
    const waiting = await chat.chat("Go", { id });
    const { approvalId } = decision(waiting, "c-pay", true);
    const result = await chat.chat({ approvals: [{ approvalId, approved: true, reason: "Due." }] }, { id });
    expect(result).toMatchObject({
      text: "Paid.",
      finishReason: "stop",
      approvalRequests: [],
      toolResults: [{ toolCallId: "c-pay", output: "result of c-pay", isError: false }],
      continued: true,
      id,
      usage: { ...noUsage, inputTokens: 10, outputTokens: 2 },
    });
    expect(runs).toEqual(["c-pay"]);
    const shown = [
      question,
      waiting.messages[0],
      {
        role: "tool",
        content: [{ type: "tool-approval-response", approvalId, approved: true, reason: "Due." }],
      },
      toolResult("c-pay", "pay", "result of c-pay"),
    ];
    expect(model.requests[1]?.messages).toEqual(shown);
    expect(await memory.messages()).toEqual([...shown, assistant("Paid.")]);
  });

  test.each([
    ["Too dear.", "The user denied this tool call: Too dear."],
    [undefined, "The user denied this tool call."],
    [" ", "The user denied this tool call."],
  ])("gets a result that says so once it is denied (%j), and the model goes on", async (reason, told) => {
    const { process, runs } = conversation();
    const { chat, memory, model } = process(paying, assistant("As you like."));
    const waiting = await chat.chat("Go", { id });
    const approvals = [decision(waiting, "c-pay", false, reason)];
    expect(await chat.chat({ approvals }, { id })).toMatchObject({
      text: "As you like.",
      toolResults: [{ toolCallId: "c-pay", toolName: "pay", output: told, isError: true, isDenied: true }],
    });
    expect(runs).toEqual([]);
    const output = { type: "execution-denied", reason: told };
    expect(outputsOf(model.requests[1]?.messages ?? [], "c-pay")).toEqual([output]);
    expect(await process().chat.chat("Go", { id })).toMatchObject({
      toolResults: [{ output: told, isError: true, isDenied: true }],
    });
    const response = { type: "tool-approval-response", ...approvals[0] };
    expect((await memory.messages())[2]?.content).toEqual([response]);
  });

  test("may be decided apart from the others of its answer", async () => {
    const { process, runs } = conversation();
    const { chat, model } = process(asking, assistant("Done."));
    const first = await chat.chat("Go", { id });
    const second = await chat.chat({ approvals: [decision(first, "c-send", true)] }, { id });
    expect(second).toMatchObject({
      finishReason: "approval",
      approvalRequests: [first.approvalRequests[0]],
      toolResults: [{ toolCallId: "c-look" }, { toolCallId: "c-send" }],
    });
    expect(runs).toEqual(["c-look", "c-send"]);
    expect(model.requests).toHaveLength(1);
    const third = await chat.chat({ approvals: [decision(second, "c-pay", false)] }, { id });
    expect(third).toMatchObject({ text: "Done.", approvalRequests: [] });
    expect(third.toolResults.map(({ toolCallId }) => toolCallId)).toEqual(["c-pay", "c-look", "c-send"]);
    expect(runs).toEqual(["c-look", "c-send"]);
  });

  test("is told by its stream once nothing else runs", async () => {
    const { process } = conversation();
    const { chat } = process(asking, assistant("Done."));
    const events: ChatEvent<ModelMessage>[] = [];
    for await (const event of chat.stream("Go", { id })) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      "tool-call",
      "tool-call",
      "tool-call",
      "tool-result",
      "tool-approval-request",
      "tool-approval-request",
      "finish",
    ]);
    const requests = events.flatMap((event) => (event.type === "tool-approval-request" ? event.request : []));
    expect(events.at(-1)).toMatchObject({ result: { approvalRequests: requests } });
    const approvals = requests.map(({ approvalId }) => ({ approvalId, approved: true }));
    const more: string[] = [];
    for await (const event of chat.stream({ approvals }, { id })) more.push(event.type);
    expect(more).toEqual(["tool-result", "tool-result", "text", "finish"]);
  });

  test("goes on waiting when the stream is left at its request", async () => {
    const { process } = conversation();
    const { chat, memory } = process(paying);
    for await (const event of chat.stream("Go", { id })) if (event.type === "tool-approval-request") break;
    expect(await memory.messages()).toHaveLength(2);
    expect((await process().chat.chat("Go", { id })).approvalRequests).toHaveLength(1);
  });

  test("waits under the id of its question, also one that the memory made", async () => {
    const { process, runs } = conversation();
    const waiting = await process(paying).chat.chat("Go");
    const approvals = [decision(waiting, "c-pay", true)];
    const result = await process(assistant("Paid.")).chat.chat({ approvals }, { id: waiting.id });
    expect(result).toMatchObject({ text: "Paid.", id: waiting.id });
    expect(runs).toEqual(["c-pay"]);
  });

  test("may come at every step of a turn, and what was said before it stays as it was", async () => {
    const { process, runs } = conversation();
    const { chat, model } = process(
      asking,
      toolCall("c-more", "look", {}),
      toolCall("c-pay-2", "pay", {}),
      assistant("Done."),
    );
    let result = await chat.chat("Go", { id });
    for (let turns = 0; result.finishReason === "approval"; turns++) {
      const approvals = result.approvalRequests.map(({ approvalId }) => ({
        approvalId,
        approved: turns === 0,
      }));
      result = await chat.chat({ approvals }, { id });
    }
    expect(result).toMatchObject({ text: "Done.", finishReason: "stop" });
    expect(runs).toEqual(["c-look", "c-pay", "c-send", "c-more"]);
    for (const [n, { messages }] of model.requests.entries()) {
      const next = model.requests[n + 1]?.messages ?? messages;
      expect(next.slice(0, messages.length)).toEqual(messages);
    }
  });

  test("keeps the system message that its turn began with", async () => {
    let time = 9;
    const { process } = conversation({ systemMessage: () => `It is ${time++}.` });
    const { chat, memory } = process(paying, assistant("Paid."));
    const waiting = await chat.chat("Go", { id });
    await chat.chat({ approvals: [decision(waiting, "c-pay", true)] }, { id });
    expect((await memory.messages())[0]?.content).toBe("It is 9.");
    expect(time).toBe(10);
  });

  test("is one of many memories' conversations", async () => {
    const memories = createChatMemories({ store: inMemoryStore() });
    const pay = tool({ inputSchema: {}, needsApproval: true, execute: () => "paid" });
    const chat = createAssistant({ model: scripted(paying, assistant("Paid.")), memories, tools: { pay } });
    const waiting = await chat.chat("Go", { memoryId: "ann/1", id });
    const approvals = [decision(waiting, "c-pay", true)];
    await expect(chat.chat({ approvals }, { memoryId: "ann/2", id })).rejects.toMatchObject({
      code: "MEMORY_DELETED",
    });
    expect(await chat.chat({ approvals }, { memoryId: "ann/1", id })).toMatchObject({ text: "Paid." });
  });
});

test.each(["", "c-pay"])(
  "an answer whose calls share the id %j cannot be asked about, and nothing of it is stored",
  async (callId) => {
    const { process, runs } = conversation();
    const { chat, memory } = process(calling([callId, "look"], [callId, "pay"]));
    await expect(chat.chat("Go", { id })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: `The id of a call that needs approval must be one that no other call has; it is "${callId}".`,
    });
    expect(runs).toEqual([]);
    expect(await memory.messages()).toEqual([]);
  },
);

describe("an immediate return", () => {
  const tools = {
    pay: tool({ inputSchema: {}, needsApproval: true, returnBehavior: "immediate", execute: () => "paid" }),
  };
  test("waits for the approval, and returns then", async () => {
    const { process } = conversation({ tools });
    const { chat, model } = process(paying);
    const waiting = await chat.chat("Go", { id });
    expect(waiting.finishReason).toBe("approval");
    const approvals = [decision(waiting, "c-pay", true)];
    const returned = { finishReason: "tool", toolResults: [{ output: "paid" }] };
    expect(await chat.chat({ approvals }, { id })).toMatchObject(returned);
    expect(await process().chat.chat({ approvals }, { id })).toMatchObject(returned);
    expect(model.requests).toHaveLength(1);
  });

  test("is none of a denied call: the model is told", async () => {
    const { process } = conversation({ tools });
    const { chat } = process(paying, assistant("As you like."));
    const waiting = await chat.chat("Go", { id });
    const approvals = [decision(waiting, "c-pay", false)];
    expect(await chat.chat({ approvals }, { id })).toMatchObject({ text: "As you like." });
  });
});

test("a turn that waits has used one of its round trips, and no more once it goes on", async () => {
  const { process } = conversation({ maxRoundTrips: 1 });
  const { chat } = process(paying, toolCall("c-more", "pay", {}));
  const waiting = await chat.chat("Go", { id });
  const approvals = [decision(waiting, "c-pay", true)];
  await expect(chat.chat({ approvals }, { id })).rejects.toMatchObject({ code: "TOO_MANY_ROUND_TRIPS" });
});

test("decisions wait for the turn that runs, or are refused", async () => {
  const memory = createChatMemory();
  const pay = tool({ inputSchema: {}, needsApproval: true, execute: () => "paid" });
  const { opened, open } = gate();
  const model = scripted(paying, () => opened.then(() => assistant("Paid.")));
  const policy = { model, memory, tools: { pay } };
  const waiting = await createAssistant(policy).chat("Go", { id });
  const approvals = [decision(waiting, "c-pay", true)];
  const first = createAssistant(policy).chat({ approvals }, { id });
  await expect(
    createAssistant({ ...policy, busy: "reject" }).chat({ approvals }, { id }),
  ).rejects.toMatchObject({ code: "BUSY" });
  const second = createAssistant(policy).chat({ approvals }, { id });
  open();
  expect(await first).toMatchObject({ text: "Paid." });
  expect(await second).toMatchObject({ text: "Paid.", continued: true });
  expect(model.requests).toHaveLength(2);
  expect(await memory.messages()).toHaveLength(5);
});
