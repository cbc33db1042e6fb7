import { describe, expect, test } from "vitest";
import { all, conversation, decision, id, outputsOf } from "./approval-support.ts";
import { assistant, calling, toolCall } from "./script.ts";

const paying = toolCall("c-pay", "pay", { amount: 90 });

describe("a turn that fails", () => {
  const bad = { inputSchema: {}, execute: () => Promise.reject(new Error("down")) };
  const answer = calling(["c-bad", "bad"], ["c-pay", "pay"]);

  test("leaves its waiting calls to the user if a tool has run", async () => {
    const { process, runs } = conversation({ tools: { bad }, strategies: { toolError: "throw" } });
    const { chat, memory } = process(answer, assistant("Paid."));
    await expect(chat.chat("Go", { id })).rejects.toThrow("down");
    expect(outputsOf(await memory.messages(), "c-bad")).toEqual([{ type: "error-text", value: "down" }]);
    const waiting = await chat.chat("Go", { id });
    expect(waiting.approvalRequests.map(({ call }) => call.id)).toEqual(["c-pay"]);
    expect(await chat.chat({ approvals: all(waiting, true) }, { id })).toMatchObject({ text: "Paid." });
    expect(runs).toEqual(["c-pay"]);
  });

  test.each([
    ["is taken back with them if none has", false, 0],
    ["stays as it is with keepFailedTurns", true, 2],
  ])("%s", async (_, keepFailedTurns, left) => {
    const { process } = conversation({ strategies: { unknownTool: "throw" }, keepFailedTurns });
    const { chat, memory } = process(answer);
    await expect(chat.chat("Go", { id })).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
    expect(await memory.messages()).toHaveLength(left);
  });

  test("behind a decision stays, with a result for each call that was decided", async () => {
    const controller = new AbortController();
    const pay = {
      inputSchema: {},
      needsApproval: true,
      execute: () => {
        controller.abort();
        return new Promise(() => undefined);
      },
    };
    const { process } = conversation({ tools: { pay } });
    const { signal } = controller;
    const { chat, memory } = process(
      calling(["c-pay", "pay"], ["c-no", "send"], ["c-send", "send"], ["c-later", "send"]),
    );
    const waiting = await chat.chat("Go", { id });
    const approvals = [
      decision(waiting, "c-pay", true),
      decision(waiting, "c-send", true),
      decision(waiting, "c-no", false),
    ];
    await expect(chat.chat({ approvals }, { id, signal })).rejects.toMatchObject({ code: "ABORTED" });
    const view = await memory.messages();
    const told = ["c-pay", "c-no", "c-send", "c-later"].map((call) => JSON.stringify(outputsOf(view, call)));
    expect(told).toEqual([
      expect.stringContaining("interrupted"),
      expect.stringContaining("denied"),
      expect.stringContaining("was not carried out: the turn ended"),
      "[]",
    ]);
    expect((await process().chat.chat("Go", { id })).approvalRequests).toEqual(
      waiting.approvalRequests.slice(3),
    );
  });

  test("because the model does, is asked again with the same decisions", async () => {
    const { process, runs } = conversation();
    const { chat } = process(paying, new Error("overloaded"), assistant("Paid."));
    const waiting = await chat.chat("Go", { id });
    const approvals = all(waiting, true);
    await expect(chat.chat({ approvals }, { id })).rejects.toThrow("overloaded");
    expect(await chat.chat({ approvals }, { id })).toMatchObject({ text: "Paid." });
    expect(runs).toEqual(["c-pay"]);
  });

  test("because its time is over, as any", async () => {
    const pay = { inputSchema: {}, needsApproval: true, execute: () => new Promise(() => undefined) };
    const { process, store } = conversation({ tools: { pay } });
    const waiting = await process(paying).chat.chat("Go", { id });
    const { chat, memory } = conversation({ store, tools: { pay }, timeoutMs: 50 }).process();
    await expect(chat.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(JSON.stringify(outputsOf(await memory.messages(), "c-pay"))).toContain("interrupted");
  });
});

describe("a conversation that is deleted", () => {
  test("while a call waits takes no decision", async () => {
    const { process, runs } = conversation();
    const waiting = await process(paying).chat.chat("Go", { id });
    await process().memory.clear();
    await expect(process().chat.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
      code: "MEMORY_DELETED",
      message: expect.stringContaining('Memory "chat" was deleted'),
    });
    expect(runs).toEqual([]);
    expect((await process().memory.history()).messages).toEqual([]);
  });

  test.each([
    ["as its decision is stored", "getHistory"],
    ["while the approved tool runs", "pay"],
  ])("%s stays deleted", async (_, when) => {
    const runs: string[] = [];
    const pay = {
      inputSchema: {},
      needsApproval: true,
      execute: async () => {
        runs.push("pay");
        await process().memory.clear();
      },
    };
    const { process, store } = conversation({ tools: { pay } });
    const waiting = await process(paying).chat.chat("Go", { id });
    const { chat } = process();
    if (when === "getHistory") {
      const getHistory = store.getHistory.bind(store);
      store.getHistory = async (...args) => {
        const page = await getHistory(...args);
        store.getHistory = getHistory;
        await process().memory.clear();
        return page;
      };
    }
    await expect(chat.chat({ approvals: all(waiting, true) }, { id })).rejects.toMatchObject({
      code: when === "pay" ? "MEMORY_DELETED" : "UNKNOWN_APPROVAL",
    });
    expect(runs).toEqual(when === "pay" ? ["pay"] : []);
    expect((await process().memory.history()).messages).toEqual([]);
  });
});
