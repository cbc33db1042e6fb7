import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createChatMemories, createChatMemory, inMemoryStore } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { createAssistant } from "../src/index.ts";
import { whileFree } from "../src/turn-queue.ts";
import { assistant } from "./script.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** How many bytes the heap has grown by with so many calls, one after the other, when all that can go has gone. */
async function growth(call: () => Promise<unknown>, count: number): Promise<number> {
  for (let n = 0; n < 1_000; n++) await call();
  const before = await heapUsed();
  for (let n = 0; n < count; n++) await call();
  return (await heapUsed()) - before;
}

async function heapUsed(): Promise<number> {
  await new Promise(setImmediate);
  for (let n = 0; n < 3; n++) collectGarbage();
  return process.memoryUsage().heapUsed;
}

test("the turns of a memory leave nothing behind", async () => {
  const [memory, { signal }] = [createChatMemory(), new AbortController()];
  const rules = { busy: "enqueue", leaseMs: undefined } as const;
  const turn = (): Promise<unknown> => whileFree(memory, rules, signal, async () => undefined);
  expect(await growth(turn, 100_000)).toBeLessThan(2_000_000);
});

test("streams leave nothing behind on a signal that outlives them", async () => {
  const { signal } = new AbortController();
  const memory = createChatMemory({ window: { maxMessages: 1 }, history: false });
  const chat = createAssistant({ memory, model: async () => ({ message: assistant("Hello") }) });
  const types = new Set<string>();
  const ask = async (): Promise<void> => {
    for await (const event of chat.stream("Go", { signal })) types.add(event.type);
  };
  expect(await growth(ask, 10_000)).toBeLessThan(1_000_000);
  expect([...types]).toEqual(["text", "finish"]);
}, 60_000);

test("turns at once that share a signal have one listener on it, and leave none", async () => {
  const { signal } = new AbortController();
  const listeners = (): number => getEventListeners(signal, "abort").length;
  const held = gate();
  let asked = 0;
  const chat = createAssistant({
    memories: createChatMemories({ store: inMemoryStore() }),
    model: async () => {
      asked++;
      await held.opened;
      return { message: assistant("Hello") };
    },
  });
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const turns = ids.map((memoryId, index) =>
    index % 2 === 0 ? chat.chat("Go", { memoryId, signal }) : chat.stream("Go", { memoryId, signal }).next(),
  );
  await expect.poll(() => asked).toBe(20);
  expect(listeners()).toBe(1);
  held.open();
  await Promise.all(turns);
  await expect.poll(listeners).toBe(0);
});
