import { randomUUID } from "node:crypto";
import { type ChatMemory, createChatMemory, entry, type ModelMessage, user } from "@turnkeep/core";
import { type PgBouncer, startPgBouncer } from "@turnkeep/servers";
import { message, type NetworkProxy, startProxy, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";

let url: string;
/** Between the store and the server, or between PgBouncer and the server. */
let proxy: NetworkProxy;
let bouncer: PgBouncer;

beforeAll(async () => {
  url = await newDatabase();
  const store = postgresStore({ url });
  await store.migrate();
  await store.close();
  proxy = await startProxy(url);
  bouncer = await startPgBouncer(proxy.through(inject("postgresUrl")));
});
afterAll(async () => {
  await bouncer.stop();
  await proxy.stop();
});

function open(address: string): PostgresStore {
  const store = postgresStore({ url: address });
  onTestFinished(() => store.close());
  return store;
}

const contents = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.history()).messages.map(({ message }) => message.content);

describe.each([
  ["the store", () => proxy.through(url)],
  ["PgBouncer", () => bouncer.through(url)],
])("%s never gets the answer to a write, and another process acts before it is told", (_, address) => {
  test.each([
    ["clears the memory", (memory: ChatMemory<ModelMessage>) => memory.clear(), []],
    ["removes the message", (memory: ChatMemory<ModelMessage>) => memory.remove("lost"), ["before"]],
    [
      "clears it and begins it anew",
      async (memory: ChatMemory<ModelMessage>) => {
        await memory.clear();
        await memory.add(user("of another life"));
      },
      ["of another life"],
    ],
    [
      "adds another",
      (memory: ChatMemory<ModelMessage>) => memory.add(user("theirs")),
      ["before", "LOST", "theirs"],
    ],
  ])("who %s", async (_what, act, expected) => {
    const id = randomUUID();
    const other = createChatMemory({ id, store: open(url) });
    await other.add(user("before"));
    const memory = createChatMemory({ id, store: open(address()) });
    await memory.messages();
    const mark = `LOST ${id}`;
    const struck = proxy.strike(mark, "drop-reply", () => act(other));
    await memory.add(entry(user(mark), { id: "lost" })).catch(() => {});
    await struck;
    expect(await contents(other)).toEqual(expected.map((text) => (text === "LOST" ? mark : text)));
  });

  test("and the update is open, whoever acts; sent again, it says what is so", async () => {
    const [store, other] = [open(address()), open(url)];
    const first = update(null, 2, { append: [message(1, `"FIRST ${randomUUID()}"`)] });
    const mark = first.append[0]?.payload.slice(1, -1) ?? "";
    const memoryId = randomUUID();
    const struck = proxy.strike(mark, "drop-reply", () => other.deleteMessages(memoryId));
    await expect(store.updateMessages(memoryId, first)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("is open"),
    });
    await struck;
    expect((await other.getMessages(memoryId)).version).toBeNull();
    const append = update(first.version, 3, { append: [message(2)] });
    await expect(store.updateMessages(memoryId, append)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  });
});
