import { type ChatMemoryStore, entry, toolResult } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import type { ApprovalResponse } from "../src/index.ts";
import { noUsage } from "../src/usage.ts";
import { all, asking, conversation, decided, decision, id, outputsOf } from "./approval-support.ts";
import { assistant, toolCall, user } from "./script.ts";

const paying = toolCall("c-pay", "pay", { amount: 90 });
const unapproved = [
  { type: "error-text", value: "The tool call was not carried out: the user has not approved it." },
];

describe("what the application gives in place of a message", () => {
  const ok = { approvalId: "a", approved: true };
  test.each([
    ["approvals must be a list of at least one", { approvals: [] }, { id }],
    ["approvals must be a list of at least one", { approvals: ok }, { id }],
    ['it was given "aprovals"', { approvals: [ok], aprovals: [] }, { id }],
    ["approvals[0] must be", { approvals: ["a"] }, { id }],
    ['it was given "aproved"', { approvals: [{ ...ok, aproved: true }] }, { id }],
    ["approvals[0].approvalId must be", { approvals: [{ approved: true }] }, { id }],
    ["approvals[0].approvalId must be", { approvals: [{ ...ok, approvalId: "" }] }, { id }],
    [
      'approvals[1].approvalId must be a text that no other of them has; it is "a".',
      { approvals: [ok, ok] },
      { id },
    ],
    [
      'approvals[0].approved must be true or false; it is "yes".',
      { approvals: [{ ...ok, approved: "yes" }] },
      { id },
    ],
    ["approvals[0].reason must be", { approvals: [{ ...ok, reason: 7 }] }, { id }],
    ["id must be the id of the message whose turn waits", { approvals: [ok] }, {}],
    ["id must be", { approvals: [ok] }, { id: "" }],
  ])("must be decisions, with the turn's id: %s", async (message, approvals, options) => {
    const { process } = conversation();
    const { chat, memory } = process();
    const expected = { code: "INVALID_OPTION", message: expect.stringContaining(message) };
    await expect(chat.chat(approvals as never, options as never)).rejects.toMatchObject(expected);
    expect((await memory.history()).messages).toEqual([]);
  });

  test.each(["q-1", "q-2"])("is refused where no call of the turn %s waits under that id", async (turn) => {
    const { process, runs } = conversation();
    const { chat, memory } = process(paying);
    const waiting = await chat.chat("Go", { id });
    const approvals =
      turn === id ? [...all(waiting, true), { approvalId: "x", approved: true }] : all(waiting, true);
    const { approvalId } = approvals.at(-1) as ApprovalResponse;
    await expect(chat.chat({ approvals }, { id: turn })).rejects.toMatchObject({
      name: "AssistantError",
      code: "UNKNOWN_APPROVAL",
      message: `Memory "chat": no call in the turn of message "${turn}" waits under the approval id "${approvalId}". Use the ids of the result's approvalRequests.`,
      details: { memoryId: "chat", approvalId },
    });
    expect(await memory.messages()).toHaveLength(2);
    expect(runs).toEqual([]);
  });

  test.each([true, false])(
    "is refused where the user has decided otherwise before (%s)",
    async (approved) => {
      const { process, runs } = conversation();
      const { chat } = process(asking, assistant("Done."));
      const waiting = await chat.chat("Go", { id });
      const first = decision(waiting, "c-pay", approved);
      await chat.chat({ approvals: [first] }, { id });
      const before = [...runs];
      const approvals = [decision(waiting, "c-send", true), { ...first, approved: !approved }];
      await expect(chat.chat({ approvals }, { id })).rejects.toMatchObject({
        code: "APPROVAL_CONFLICT",
        message: expect.stringMatching(
          `"${first.approvalId}", in the turn of message "q-1", was ${approved ? "approved" : "denied"} before`,
        ),
        details: { approvalId: first.approvalId, toolCallId: "c-pay", toolName: "pay", memoryId: "chat" },
      });
      expect(runs).toEqual(before);
      expect((await process().chat.chat("Go", { id })).approvalRequests).toHaveLength(1);
    },
  );

  test("is refused where the application has answered the call itself", async () => {
    const { process, runs } = conversation();
    const { chat, memory } = process(paying);
    const waiting = await chat.chat("Go", { id });
    await memory.add(toolResult("c-pay", "pay", "paid by hand"));
    await expect(chat.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
      code: "APPROVAL_CONFLICT",
      message: expect.stringContaining("was answered without a decision"),
    });
    expect(runs).toEqual([]);
  });
});

describe("a decision that is stored", () => {
  test.each([true, false])("changes nothing when it comes again (approved: %s)", async (approved) => {
    const { process, runs } = conversation();
    const { chat, memory } = process(paying, assistant("Done."));
    const waiting = await chat.chat("Go", { id });
    const approvals = all(waiting, approved);
    const done = await chat.chat({ approvals }, { id });
    const before = { runs: [...runs], messages: await memory.messages() };
    const again = process();
    expect(
      await again.chat.chat({ approvals: approvals.map((each) => ({ ...each, reason: "again" })) }, { id }),
    ).toEqual({
      ...done,
      usage: noUsage,
    });
    expect({ runs, messages: await again.memory.messages() }).toEqual(before);
    // Also once the conversation has gone on.
    await process(assistant("Bye.")).chat.chat("Bye", { id: "q-2" });
    expect(await again.chat.chat({ approvals }, { id })).toMatchObject({ text: "Done." });
  });

  test("is followed by what its process did not come to", async () => {
    const { process, runs } = conversation();
    const waiting = await process(asking).chat.chat("Go", { id });
    const approvals = [decision(waiting, "c-pay", false, "No."), decision(waiting, "c-send", true)];
    await process().memory.add(decided(approvals));
    const { chat, model } = process(assistant("Done."));
    expect(await chat.chat("Go", { id })).toMatchObject({
      text: "Done.",
      toolResults: [
        { isDenied: true },
        {},
        { output: expect.stringContaining("interrupted"), isError: true },
      ],
    });
    expect(runs).toEqual(["c-look"]);
    expect(model.requests).toHaveLength(1);
  });

  test("is the first one, where the application has stored another behind it", async () => {
    const { process, runs } = conversation();
    const waiting = await process(paying).chat.chat("Go", { id });
    await process().memory.add(decided(all(waiting, true)), decided(all(waiting, false)));
    expect(await process(assistant("Hm.")).chat.chat("Go", { id })).toMatchObject({
      toolResults: [{ output: expect.stringContaining("interrupted") }],
    });
    expect(runs).toEqual([]);
  });

  test("lets an idempotent tool run again", async () => {
    const runs: string[] = [];
    const send = { inputSchema: {}, needsApproval: true, idempotent: true, execute: () => runs.push("send") };
    const { process } = conversation({ tools: { send } });
    const waiting = await process(toolCall("c-send", "send", {})).chat.chat("Go", { id });
    await process().memory.add(decided(all(waiting, true)));
    const result = await process(assistant("Sent.")).chat.chat("Go", { id });
    expect(result).toMatchObject({ text: "Sent.", toolResults: [{ output: 1 }] });
    expect(runs).toEqual(["send"]);
  });
});

test("an idempotent tool that needs approval does not run again for a call that was stored without a request", async () => {
  const send = { inputSchema: {}, needsApproval: true, idempotent: true, execute: () => "never" };
  const { process } = conversation({ tools: { send } });
  const { memory } = process();
  await memory.add(entry(user("Go"), { id }), toolCall("c-send", "send", {}));
  expect(await process(assistant("Shall I?")).chat.chat("Go", { id })).toMatchObject({
    toolResults: [{ output: expect.stringContaining("interrupted"), isError: true }],
  });
});

describe("a user who says something else while a call waits", () => {
  test("is answered, and a later approval runs nothing", async () => {
    const { process, runs } = conversation();
    const waiting = await process(paying).chat.chat("Go", { id });
    const { chat, model, memory } = process(assistant("Fine."));
    expect(await chat.chat("Never mind.", { id: "q-2" })).toMatchObject({ text: "Fine." });
    expect(outputsOf(model.requests[0]?.messages ?? [], "c-pay")).toEqual(unapproved);
    const before = await memory.messages();
    for (const approved of [true, false]) {
      await expect(chat.chat({ approvals: all(waiting, approved) }, { id })).rejects.toMatchObject({
        code: "APPROVAL_CONFLICT",
        message: expect.stringContaining("waits no longer: the conversation has gone on"),
      });
    }
    await expect(chat.chat("Go", { id })).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(runs).toEqual([]);
    expect(await process().memory.messages()).toEqual(before);
  });

  test("and takes it back may approve the call", async () => {
    const { process, runs } = conversation();
    const { chat, memory } = process(paying, assistant("Fine."), assistant("Paid."));
    const waiting = await chat.chat("Go", { id });
    await chat.chat("Never mind.", { id: "q-2" });
    await memory.rewind("q-2");
    expect(await chat.chat({ approvals: all(waiting, true) }, { id })).toMatchObject({ text: "Paid." });
    expect(runs).toEqual(["c-pay"]);
  });

  test.each([
    ["at the moment of the approval", user("Wait!")],
    ["for whom the application has answered", assistant("We are closed.")],
  ])("%s is heard first", async (_, said) => {
    const { process, runs, store } = conversation();
    const waiting = await process(paying).chat.chat("Go", { id });
    const getHistory = store.getHistory.bind(store);
    let looks = 0;
    store.getHistory = async (...args) => {
      const page = await getHistory(...args);
      // The turn has been read, and the decision is about to be stored.
      if (args[1].ids === undefined && ++looks === 1) await process().memory.add(said);
      return page;
    };
    await expect(process().chat.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
      code: "APPROVAL_CONFLICT",
    });
    expect(runs).toEqual([]);
    expect((await process().memory.history()).messages).toHaveLength(3);
  });
});

describe("two processes that decide at once", () => {
  test.each([
    ["the same", true],
    ["the opposite", false],
  ])("%s run the tool once at most", async (_, second) => {
    const { process, runs, store } = conversation({ isHeld: false });
    const waiting = await process(paying).chat.chat("Go", { id });
    let looks = 0;
    const getHistory = store.getHistory.bind(store);
    const both: ChatMemoryStore["getHistory"] = async (...args) => {
      const page = await getHistory(...args);
      if (args[1].ids !== undefined || looks === 2) return page;
      looks++;
      await expect.poll(() => looks, { interval: 1 }).toBe(2);
      return page;
    };
    store.getHistory = both;
    const chats = [true, second].map((approved) =>
      process(assistant("Done.")).chat.chat({ approvals: all(waiting, approved) }, { id }),
    );
    const ends = await Promise.allSettled(chats);
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const won = ends.findIndex(({ status }) => status === "fulfilled");
    expect(ends[1 - won]).toMatchObject({
      reason: { code: "ID_CONFLICT", message: expect.stringContaining("Send the same again") },
    });
    expect(runs).toEqual(won === 0 || second ? ["c-pay"] : []);
    const approvals = all(waiting, [true, second][won] as boolean);
    expect(await process().chat.chat({ approvals }, { id })).toMatchObject({
      text: "Done.",
      continued: true,
    });
  });
});
