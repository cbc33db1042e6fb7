import { expect, test } from "vitest";
import { singleSlotStore } from "../src/stores/single-slot-store.ts";
import { message, seed, update } from "./stores-support.ts";

test("the first id that writes takes the slot; any other is INVALID_OPTION and says what to do", async () => {
  const store = singleSlotStore();
  await store.getMessages("b");
  const v1 = await seed(store, "a", 1);
  for (const call of [
    store.getMessages("b"),
    store.updateMessages("b", update(null, { append: [message(1)] })),
    store.deleteMessages("b"),
    store.getHistory("b", {}),
  ]) {
    await expect(call).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/one memory.*"b".*inMemoryStore/s),
    });
  }
  expect(await store.getMessages("a")).toMatchObject({ version: v1, messages: [message(1)] });
});

test("of two ids that write at once, one takes the slot", async () => {
  const store = singleSlotStore();
  const results = await Promise.allSettled([seed(store, "a", 1), seed(store, "b", 1)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

test("a refused write does not take the slot", async () => {
  const store = singleSlotStore();
  await expect(store.updateMessages("a", update("v0"))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  await expect(store.updateMessages("a", { ...update(null), nextSeq: 0 })).rejects.toMatchObject({
    code: "INVALID_OPTION",
  });
  await seed(store, "b", 1);
});

test("a delete frees the slot", async () => {
  const store = singleSlotStore();
  await seed(store, "a", 1);
  await store.deleteMessages("a");
  await seed(store, "b", 2);
  expect((await store.getMessages("b")).messages).toHaveLength(2);
});

test("listMemories is UNSUPPORTED, as declared; sweep has nothing to do", async () => {
  const store = singleSlotStore();
  expect(store.capabilities).toEqual({
    ...{ durable: false, shared: false, history: true, list: false, newest: false, ttl: false, delta: true },
    ...{ readSteps: 1, maxMessageBytes: 16 * 1024 * 1024 },
  });
  await expect(store.listMemories({})).rejects.toMatchObject({ code: "UNSUPPORTED" });
  expect(await store.sweep()).toEqual({ removed: 0 });
});
