import type { ModelMessage } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAssistant, type ToolContext, tool } from "../src/index.ts";
import { asking, conversation, decision, id } from "./approval-support.ts";
import { assistant, calling, toolCall } from "./script.ts";

const paying = toolCall("c-pay", "pay", { amount: 90 });

describe("needsApproval as a function", () => {
  test("is given what the tool is given, once for each call", async () => {
    const asked: [unknown, ToolContext][] = [];
    const pay = tool({
      inputSchema: z.object({ amount: z.string().transform(Number) }),
      needsApproval: async ({ amount }, context) => {
        asked.push([amount, context]);
        return amount > 50;
      },
      execute: ({ amount }, { toolCallId }) => `${toolCallId}: ${amount}`,
    });
    const { process } = conversation({ tools: { pay } });
    const { chat } = process(
      calling(["dear", "pay", { amount: "90" }], ["cheap", "pay", { amount: "9" }]),
      assistant("Paid."),
    );
    const waiting = await chat.chat("Go", { id });
    expect(waiting).toMatchObject({
      approvalRequests: [{ call: { id: "dear", input: { amount: "90" } } }],
      toolResults: [{ output: "cheap: 9" }],
    });
    await chat.chat("Go", { id });
    const approvals = [decision(waiting, "dear", true)];
    expect(await chat.chat({ approvals }, { id })).toMatchObject({
      toolResults: [{ output: "dear: 90" }, { output: "cheap: 9" }],
    });
    expect(asked.map(([amount]) => amount)).toEqual([90, 9]);
    expect(asked.map(([, { memoryId, toolCallId }]) => `${memoryId} ${toolCallId}`)).toEqual([
      "chat dear",
      "chat cheap",
    ]);
    expect(asked[0]?.[1].signal.aborted).toBe(false);
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no rates")), "no rates"],
    [
      "answers neither",
      () => undefined,
      'The result of tools["pay"].needsApproval must be true or false; it is undefined.',
    ],
  ])("that %s is a failure of the tool, which does not run", async (_, ask, told) => {
    const pay = tool({ inputSchema: {}, needsApproval: ask as never, execute: () => runs.push("pay") });
    const answered = conversation({ tools: { pay } });
    const { runs } = answered;
    const { chat } = answered.process(asking, assistant("Sorry."));
    const waiting = await chat.chat("Go", { id });
    expect(waiting).toMatchObject({
      approvalRequests: [{ call: { id: "c-send" } }],
      toolResults: [{ toolCallId: "c-pay", output: told, isError: true }, { toolCallId: "c-look" }],
    });
    const thrown = conversation({ tools: { pay }, strategies: { toolError: "throw" } });
    const { chat: strict, memory } = thrown.process(asking);
    await expect(strict.chat("Go", { id })).rejects.toThrow(told);
    expect(await memory.messages()).toEqual([]);
    const repaired = conversation({ tools: { pay }, strategies: { toolError: () => "Not now." } });
    expect(await repaired.process(paying, assistant("Sorry.")).chat.chat("Go")).toMatchObject({
      toolResults: [{ output: "Not now.", isError: true }],
    });
    expect(runs).toEqual(["c-look"]);
  });

  test("ends with the turn's signal", async () => {
    const controller = new AbortController();
    const needsApproval = (): Promise<boolean> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const pay = { inputSchema: {}, needsApproval, idempotent: true, execute: () => 1 };
    const { chat, memory } = conversation({ tools: { pay }, keepFailedTurns: true }).process(paying);
    await expect(chat.chat("Go", { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    // The answer that nobody was asked about is not stored, even to be kept.
    expect((await memory.history()).messages).toHaveLength(1);
  });
});

describe("nobody is asked about a call that no tool would run", () => {
  const pay = tool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: () => "never",
  });
  test.each([
    ["of an unknown tool", toolCall("c", "whether", {}), /There is no tool/],
    ["with an input that the tool does not take", toolCall("c", "pay", {}), /amount/],
  ])("%s", async (_, answer, told) => {
    const { process } = conversation({ tools: { pay } });
    expect(await process(answer, assistant("Sorry.")).chat.chat("Go", { id })).toMatchObject({
      text: "Sorry.",
      toolResults: [{ isError: true, output: expect.stringMatching(told) }],
    });
  });

  test("of an answer that was cut off before its arguments", async () => {
    const { process } = conversation();
    const { memory } = process();
    const answers = [
      { message: toolCall("c", "pay", {}), finishReason: "length" },
      { message: assistant("Sorry.") },
    ].values();
    const pay = tool({ inputSchema: {}, needsApproval: true, execute: () => "never" });
    const model = async () => answers.next().value as { message: ModelMessage };
    const chat = createAssistant({ model, memory, tools: { pay } });
    expect(await chat.chat("Go", { id })).toMatchObject({
      toolResults: [{ isError: true, output: expect.stringContaining("cut off") }],
    });
  });

  test("even if the tool would take its input a moment later", async () => {
    let isOpen = false;
    const opening = z.object({ amount: z.number() }).refine(() => {
      const was = isOpen;
      isOpen = true;
      return was;
    }, "closed");
    const { process } = conversation({ tools: { pay: { ...pay, inputSchema: opening } } });
    const call = toolCall("c", "pay", { amount: 1 });
    expect(await process(call, assistant("Sorry.")).chat.chat("Go", { id })).toMatchObject({
      toolResults: [{ isError: true, output: expect.stringMatching(/closed/) }],
    });
  });

  test("and no input that a strategy has repaired is run without approval", async () => {
    const strategies = { invalidInput: () => ({ input: { amount: 1000 } }) };
    const { process } = conversation({ tools: { pay }, strategies });
    expect(await process(toolCall("c", "pay", {}), assistant("Sorry.")).chat.chat("Go")).toMatchObject({
      toolResults: [{ isError: true, output: expect.stringMatching(/amount/) }],
    });
    const never = { ...pay, needsApproval: false };
    const { process: free } = conversation({ tools: { pay: never }, strategies });
    expect(await free(toolCall("c", "pay", {}), assistant("Paid.")).chat.chat("Go")).toMatchObject({
      toolResults: [{ isError: false }],
    });
  });
});
