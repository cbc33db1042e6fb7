import { message, messages, update } from "@turnkeep/store-tests";
import { expect, inject, test, vi } from "vitest";
import { redisStore } from "../src/index.ts";
import { newPrefix } from "./support.ts";

// What a store opens by itself, with the oldest ioredis in the place of the newest.
vi.mock("ioredis", async () => ({ Redis: undefined, ...(await import("ioredis5")) }));

test.each([
  ["url", { url: inject("redis70Url") }],
  ["config", { config: { port: Number(new URL(inject("redis70Url")).port), keyPrefix: "own:" } }],
] as const)("a store opens the oldest driver by its %s", async (_what, connection) => {
  expect((await import("ioredis")).Redis).toBeUndefined();
  const store = redisStore({ ...connection, prefix: newPrefix() });
  const begin = update(null, 3, { owner: "o", append: messages(1, 2) });
  await store.updateMessages("old", begin);
  await store.updateMessages("old", update(begin.version, 4, { append: [message(3)] }));
  expect((await store.getMessages("old")).messages).toEqual(messages(1, 3));
  expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(1);
  await store.deleteMessages("old");
  await store.close();
  await expect(store.getMessages("old")).rejects.toMatchObject({ code: "CLOSED" });
});

test("a server that is not there is STORE_UNAVAILABLE and says why, with the oldest driver too", async () => {
  const store = redisStore({ url: "redis://app:s3cret@127.0.0.1:1" });
  const error: unknown = await store.getMessages("a").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
  expect(String(error)).not.toContain("s3cret");
  await store.close();
});

test("a database that is not there is refused, and database 0 is not written to, with the oldest driver too", async () => {
  const own = newPrefix();
  const store = redisStore({ url: `${inject("redis70Url")}/4321`, prefix: own });
  await expect(store.updateMessages("a", update(null, 2, { append: [message(1)] }))).rejects.toMatchObject({
    code: "STORE_REFUSED",
    cause: { message: expect.stringContaining("DB index is out of range") },
  });
  await store.close();
  const other = redisStore({ url: inject("redis70Url"), prefix: own });
  expect((await other.getMessages("a")).version).toBeNull();
  expect((await other.sweep()).removed).toBe(0);
  await other.close();
});
