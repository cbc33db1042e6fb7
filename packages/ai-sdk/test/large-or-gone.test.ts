import type { TokenCounter } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Process, whereTo, world } from "./world.ts";

/** A token per character. */
const counter: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
};

const { chat } = world({ maxTokens: 1000, counter, unit: "turn" });

beforeEach(() => void vi.spyOn(console, "error"));

afterEach(() => {
  expect(console.error).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test("a paste longer than the window is 413 with figures, and leaves nothing behind", async () => {
  const { memory, process } = chat();
  const tab = await process();
  const { status, text } = await tab.say("q-1", "a".repeat(1200));
  expect([status, text]).toEqual([413, "The message is too long by 200: 1000 is the limit."]);
  expect((await memory.history()).messages).toEqual([]);
  expect((await tab.memories.list()).memories.map(({ memoryId }) => memoryId)).not.toContain(memory.id);
  expect(tab.prompts).toEqual([]);
  expect(tab.failures).toEqual([]);
});

test("a question that is edited into such a paste stays as it was", async () => {
  const { shown, process } = chat();
  const tab = await process();
  await tab.say("q-1", "Hello");
  const before = await shown();
  expect((await tab.say("q-1", "a".repeat(1200))).status).toBe(413);
  expect(await shown()).toEqual(before);
  expect((await tab.say("q-2", "Shorter")).status).toBe(200);
});

/** A tab whose answer has begun, and goes on when it may. */
async function answering() {
  const { id, shown, process } = chat();
  const { opened, open } = gate();
  const begun = gate();
  const tab = await process((goOn) => async (options) => {
    const result = await goOn(options);
    const held = new TransformStream({
      async transform(part, controller) {
        controller.enqueue(part);
        if (part.type !== "text-delta") return;
        begun.open();
        await opened;
      },
    });
    return { ...result, stream: result.stream.pipeThrough(held) };
  });
  const other = await process();
  const answer = tab.say("q-1", "Hello");
  await begun.opened;
  return { id, shown, tab, other, answer, goOn: open };
}

type Deletion = (other: Process, id: string) => Promise<unknown>;

const deletions: [string, Deletion][] = [
  ["cleared", ({ memories }, id) => memories.get(id).clear()],
  ["erased with all that its owner has", ({ memories }) => memories.erase({ owner: "ann" })],
];

test.each(deletions)("a conversation that is %s under an answer stays deleted", async (_, remove) => {
  const { id, shown, tab, other, answer, goOn } = await answering();
  await remove(other, id);
  goOn();
  const { status, text } = await answer;
  expect([status, text.includes("[DONE]")]).toEqual([200, true]);
  expect(await shown()).toEqual([]);
  expect((await other.memories.list()).memories.map(({ memoryId }) => memoryId)).not.toContain(id);
  expect(tab.failures).toEqual([]);
});

test.each(["ann", "bob"])("and no answer comes into what %s begins in its place", async (user) => {
  const { id, shown, tab, other, answer, goOn } = await answering();
  await other.memories.get(id).clear();
  expect((await other.say("q-1", "Hello", { user })).status).toBe(200);
  const before = await shown();
  goOn();
  expect((await answer).text).toContain("[DONE]");
  expect(before).toEqual(["user: Hello", whereTo]);
  expect(await shown()).toEqual(before);
  expect(tab.failures).toEqual([]);
});
