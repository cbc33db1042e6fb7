import type { ModelMessage } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { describe, expect, test } from "vitest";
import type { ChatResult, Tools } from "../src/index.ts";
import { asking, conversation, decided, decision, id, outputsOf } from "./approval-support.ts";
import { assistant, toolCall } from "./script.ts";

/** A tool that runs until it is told to end. */
function slow(needsApproval: boolean): {
  readonly tool: Tools[string];
  readonly begun: string[];
  readonly end: () => void;
} {
  const begun: string[] = [];
  const ended = gate();
  const execute = async (_: unknown, { toolCallId }: { readonly toolCallId: string }): Promise<string> => {
    begun.push(toolCallId);
    await ended.opened;
    return `result of ${toolCallId}`;
  };
  return { tool: { inputSchema: {}, needsApproval, execute }, begun, end: ended.open };
}

/** The error that says that the result of this call is awaited. */
const busy = (toolCallId: string, toolName: string): object => ({
  name: "AssistantError",
  code: "BUSY",
  message:
    `Memory "chat": the call "${toolCallId}" of the tool "${toolName}", in the turn of message "q-1", has no result yet: ` +
    "another process runs it, or has ended without one. Send the decisions again later. If nothing runs the call any " +
    "more, chat with the message and its id: the call then counts as interrupted.",
  details: { memoryId: "chat", toolCallId, toolName },
});

const results = (messages: readonly ModelMessage[]): unknown[] =>
  ["c-pay", "c-look", "c-send"].flatMap((callId) => outputsOf(messages, callId));
const whole = ["c-pay", "c-look", "c-send"].map((callId) => ({ type: "text", value: `result of ${callId}` }));

// The lease keeps two processes apart; here nothing does.
describe("a decision that another process brings while a tool runs", () => {
  test.each([
    ["another call", "c-send"],
    ["the call that runs", "c-pay"],
  ])("is refused, about %s, and changes nothing", async (_, callId) => {
    const pay = slow(true);
    const { process, runs } = conversation({ tools: { pay: pay.tool }, isHeld: false });
    const waiting = await process(asking).chat.chat("Go", { id });
    const first = process();
    const paying = first.chat.chat({ approvals: [decision(waiting, "c-pay", true)] }, { id });
    await expect.poll(() => pay.begun).toEqual(["c-pay"]);
    const second = process(assistant("Done."));
    const before = await second.memory.history();
    const approvals = [decision(waiting, callId, true)];
    await expect(second.chat.chat({ approvals }, { id })).rejects.toMatchObject(busy("c-pay", "pay"));
    expect(await second.memory.history()).toEqual(before);

    pay.end();
    expect((await paying).approvalRequests).toMatchObject([{ call: { id: "c-send" } }]);
    await second.chat.chat({ approvals }, { id });
    const last = [decision(waiting, "c-send", true)];
    expect(await second.chat.chat({ approvals: last }, { id })).toMatchObject({ text: "Done." });
    expect(results(second.model.requests[0]?.messages ?? [])).toEqual(whole);
    expect([...pay.begun, ...runs].sort()).toEqual(["c-look", "c-pay", "c-send"]);
  });

  test("is refused at the moment when it is stored", async () => {
    const pay = slow(true);
    const { process, store } = conversation({ tools: { pay: pay.tool }, isHeld: false });
    const waiting = await process(asking).chat.chat("Go", { id });
    let paying: Promise<ChatResult<ModelMessage>> | undefined;
    const getHistory = store.getHistory.bind(store);
    store.getHistory = async (...args) => {
      const page = await getHistory(...args);
      // The second process has read the turn, and is about to store its decision.
      if (paying === undefined) {
        paying = process().chat.chat({ approvals: [decision(waiting, "c-pay", true)] }, { id });
        await expect.poll(() => pay.begun).toEqual(["c-pay"]);
      }
      return page;
    };
    const second = process(assistant("Done."));
    const approvals = [decision(waiting, "c-send", true)];
    const late = second.chat.chat({ approvals }, { id });
    await expect(late).rejects.toMatchObject({ code: "ID_CONFLICT" });
    await expect(second.chat.chat({ approvals }, { id })).rejects.toMatchObject({ code: "BUSY" });
    pay.end();
    await paying;
    expect(await second.chat.chat({ approvals }, { id })).toMatchObject({ text: "Done." });
    expect(results(await second.memory.messages())).toEqual(whole);
  });

  test("is refused also if the tool needs no approval", async () => {
    const look = slow(false);
    const { process } = conversation({ tools: { look: look.tool }, isHeld: false });
    const first = process(asking);
    const asked = first.chat.chat("Go", { id });
    await expect.poll(() => look.begun).toEqual(["c-look"]);
    const second = process(assistant("Done."));
    const { format } = second.memory;
    const approvals = (await second.memory.history()).messages
      .flatMap(({ message }) => format.approvals(message))
      .map(({ approvalId }) => ({ approvalId, approved: true }));
    expect(approvals).toHaveLength(2);
    await expect(second.chat.chat({ approvals }, { id })).rejects.toMatchObject(busy("c-look", "look"));
    look.end();
    await asked;
    expect(await second.chat.chat({ approvals }, { id })).toMatchObject({ text: "Done." });
    expect(results(await second.memory.messages())).toEqual(whole);
  });
});

test("a decision that another process brings while a tool runs waits for the turn, or is refused", async () => {
  const pay = slow(true);
  const { process } = conversation({ tools: { pay: pay.tool } });
  const waiting = await process(asking).chat.chat("Go", { id });
  const paying = process().chat.chat({ approvals: [decision(waiting, "c-pay", true)] }, { id });
  await expect.poll(() => pay.begun).toEqual(["c-pay"]);
  const second = process(assistant("Done."));
  const sending = second.chat.chat({ approvals: [decision(waiting, "c-send", true)] }, { id });
  pay.end();
  await paying;
  expect(await sending).toMatchObject({ text: "Done." });
  expect(results(await second.memory.messages())).toEqual(whole);
});

describe("behind a process that died with the decision about a call", () => {
  test("other decisions are refused until the message is sent again", async () => {
    const { process, runs } = conversation();
    const waiting = await process(asking).chat.chat("Go", { id });
    await process().memory.add(decided([decision(waiting, "c-pay", true)]));
    const { chat } = process(assistant("Done."));
    const approvals = [decision(waiting, "c-send", true)];
    await expect(chat.chat({ approvals }, { id })).rejects.toMatchObject({ code: "BUSY" });
    expect(await chat.chat("Go", { id })).toMatchObject({
      approvalRequests: [{ call: { id: "c-send" } }],
      toolResults: [{ output: expect.stringContaining("interrupted") }, {}],
    });
    expect(await chat.chat({ approvals }, { id })).toMatchObject({ text: "Done." });
    expect(runs).toEqual(["c-look", "c-send"]);
  });

  test("others are taken if it was denied", async () => {
    const { process, runs } = conversation();
    const waiting = await process(asking).chat.chat("Go", { id });
    await process().memory.add(decided([decision(waiting, "c-pay", false)]));
    const approvals = [decision(waiting, "c-send", true)];
    expect(await process(assistant("Done.")).chat.chat({ approvals }, { id })).toMatchObject({
      text: "Done.",
      toolResults: [{ isDenied: true }, {}, {}],
    });
    expect(runs).toEqual(["c-look", "c-send"]);
  });

  test("the same one runs an idempotent tool again", async () => {
    const runs: string[] = [];
    const send = { inputSchema: {}, needsApproval: true, idempotent: true, execute: () => runs.push("send") };
    const { process } = conversation({ tools: { send } });
    const waiting = await process(toolCall("c-send", "send", {})).chat.chat("Go", { id });
    const approvals = [decision(waiting, "c-send", true)];
    await process().memory.add(decided(approvals));
    const result = await process(assistant("Sent.")).chat.chat({ approvals }, { id });
    expect(result).toMatchObject({ text: "Sent.", toolResults: [{ output: 1 }] });
    expect(runs).toEqual(["send"]);
  });
});
