import { createChatMemory, inMemoryStore } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAssistant, tool } from "../src/index.ts";
import { assistant, calling, scripted, user } from "./script.ts";

const timeoutMs = 60_000;
const aborted = { code: "ABORTED", message: expect.stringContaining("60000 ms (timeoutMs)") };
const never = new Promise<never>(() => {});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([undefined, inMemoryStore()])(
  "a turn is stopped that is asked to at once, with a time limit too",
  async (store) => {
    const memory = createChatMemory({ id: "chat", store });
    const model = scripted(assistant("Never."));
    const stop = new AbortController();
    const chat = createAssistant({ model, memory, timeoutMs }).chat("a", { signal: stop.signal });
    stop.abort();
    await expect(chat).rejects.toMatchObject({ code: "ABORTED" });
    expect(model.requests).toEqual([]);
  },
);

describe("a turn that takes longer than timeoutMs", () => {
  test.each([
    ["keep", [user("a"), user("b"), assistant("2")]],
    ["discard", [user("b"), assistant("2")]],
  ] as const)("ends for its model too, and leaves what onAbort says: %s", async (onAbort, left) => {
    const memory = createChatMemory();
    const model = scripted(() => never, assistant("2"));
    const chat = createAssistant({ model, memory, timeoutMs, onAbort });
    const one = chat.chat("a");
    const refused = expect(one).rejects.toMatchObject(aborted);
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(model.requests[0]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    expect(model.requests[0]?.signal.aborted).toBe(true);
    expect((await chat.chat("b")).text).toBe("2");
    expect(await memory.messages()).toEqual(left);
  });

  test("keeps what was streamed of the answer", async () => {
    const memory = createChatMemory();
    const model = scripted(({ onDelta }) => {
      onDelta?.({ type: "text", text: "Hel" });
      return never;
    });
    const stream = createAssistant({ model, memory, timeoutMs }).stream("a");
    expect(await stream.next()).toMatchObject({ value: { text: "Hel" } });
    const refused = expect(stream.next()).rejects.toMatchObject({
      ...aborted,
      details: { messageIds: [expect.stringMatching(/\/0\/aborted$/)] },
    });
    await vi.advanceTimersByTimeAsync(timeoutMs);
    await refused;
    expect(await memory.messages()).toEqual([user("a"), assistant("Hel")]);
  });

  test("says of a tool that did not end that it was interrupted", async () => {
    const memory = createChatMemory();
    const slow = tool({ description: "slow", inputSchema: { type: "object" }, execute: () => never });
    const model = scripted(calling(["call-1", "slow"]));
    const chat = createAssistant({ model, memory, timeoutMs, tools: { slow } });
    const refused = expect(chat.chat("a")).rejects.toMatchObject(aborted);
    await vi.advanceTimersByTimeAsync(timeoutMs);
    await refused;
    const stored = await memory.messages();
    expect(stored.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(JSON.stringify(stored[2])).toContain("interrupted");
  });

  test("ends where the system message never comes, and where it is followed as it happens", async () => {
    const chat = createAssistant({ model: scripted(), timeoutMs, systemMessage: () => never });
    const refused = expect(chat.stream("a").next()).rejects.toMatchObject(aborted);
    await vi.advanceTimersByTimeAsync(timeoutMs);
    await refused;
  });

  test("is not one that waits so long for the turn before it", async () => {
    const memory = createChatMemory();
    const { opened, open } = gate();
    const one = createAssistant({ model: scripted(() => opened.then(() => assistant("1"))), memory }).chat(
      "a",
    );
    const two = createAssistant({ model: scripted(assistant("2")), memory, timeoutMs }).chat("b");
    await vi.advanceTimersByTimeAsync(10 * timeoutMs);
    open();
    expect((await Promise.all([one, two])).map(({ text }) => text)).toEqual(["1", "2"]);
  });
});

test("a turn that ends in time leaves no timer, and its own signal still ends it", async () => {
  const model = scripted(assistant("1"), () => never);
  const chat = createAssistant({ model, timeoutMs });
  await chat.chat("a");
  const controller = new AbortController();
  const two = chat.chat("b", { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(0);
  expect(model.requests).toHaveLength(2);
  controller.abort("enough");
  await expect(two).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
  expect(vi.getTimerCount()).toBe(0);
});

describe("a turn that the runtime dropped with its timers", () => {
  test.each(["enqueue", "reject"] as const)(
    "keeps nobody from the memory for longer (busy: %s)",
    async (busy) => {
      const memory = createChatMemory();
      const model = scripted(() => never, assistant("2"), assistant("3"));
      const chat = createAssistant({ model, memory, timeoutMs, busy });
      vi.stubGlobal("setTimeout", () => undefined);
      void chat.chat("lost");
      // Its request is under way.
      for (let turn = 0; model.requests.length === 0 && turn < 1_000; turn++) await Promise.resolve();
      vi.unstubAllGlobals();
      if (busy === "reject") {
        await expect(chat.chat("b")).rejects.toMatchObject({ code: "BUSY" });
        await vi.advanceTimersByTimeAsync(2 * timeoutMs);
      }
      const two = chat.chat("b");
      await vi.advanceTimersByTimeAsync(2 * timeoutMs);
      expect((await two).text).toBe("2");
      expect((await chat.chat("c")).text).toBe("3");
    },
  );
});
