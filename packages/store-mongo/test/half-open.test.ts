import { createChatMemory, user } from "@turnkeep/core";
import { failure, gate, message, type NetworkProxy, startProxy, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { migrated, newDatabase, withClient } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();

beforeAll(() => migrated(url, database));
afterAll(() => withClient(url, (client) => client.db(database).dropDatabase()));

/** The driver itself gives nothing up within the time of a test. */
const patient = { heartbeatFrequencyMS: 600_000, socketTimeoutMS: 0 };

/** A store with connections of its own that run through a proxy, several of them. */
async function throughProxy(config: object = {}): Promise<{ proxy: NetworkProxy; store: MongoStore }> {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.stop());
  const store = mongoStore({
    config: { ...patient, ...config, url: proxy.through(url), directConnection: true },
    database,
  });
  onTestFinished(() => store.close());
  await store.updateMessages(`there-${proxy.port}`, update(null, 2, { append: [message(1)] }));
  // While answers take their time, no call can have the connection of another.
  proxy.delay(20);
  await Promise.all(Array.from({ length: 8 }, () => store.getMessages(`there-${proxy.port}`)));
  proxy.delay(0);
  return { proxy, store };
}

const timeOut = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(300) });

test("of connections that died in silence, one costs a call its time, whose signal ends it", async () => {
  const { proxy, store } = await throughProxy();
  proxy.forget();
  await expect(store.getMessages("a", timeOut())).rejects.toMatchObject({ code: "ABORTED" });
  expect((await store.getMessages("a")).version).toBeNull();
  proxy.forget();
  await expect(store.getHistory("a", {}, timeOut())).rejects.toMatchObject({ code: "ABORTED" });
  await store.updateMessages(`begun-${proxy.port}`, update(null, 2, { append: [message(1)] }));
});

test("close() waits for the end of clients that were given up before", async () => {
  const close = MongoClient.prototype.close;
  const [ended, last] = [[] as number[], gate()];
  let count = 0;
  const closing = vi.spyOn(MongoClient.prototype, "close").mockImplementation(async function (
    this: MongoClient,
  ) {
    const which = ++count;
    await close.call(this);
    // The one that was given up takes longer than the one in use.
    if (which === 1) await last.opened.then(() => new Promise((resolve) => setImmediate(resolve)));
    ended.push(which);
    last.open();
  });
  onTestFinished(() => closing.mockRestore());
  const { proxy, store } = await throughProxy();
  proxy.forget();
  await expect(store.getMessages("a", timeOut())).rejects.toMatchObject({ code: "ABORTED" });
  await store.getMessages("a");
  await store.close();
  expect(ended).toEqual([2, 1]);
});

test("a memory's own time-out counts as one", async () => {
  const { proxy, store } = await throughProxy();
  const memory = createChatMemory({ id: `memory-${proxy.port}`, store });
  await memory.add(user("one"));
  proxy.forget();
  const impatient = createChatMemory({ id: `memory-${proxy.port}`, store, timeoutMs: 300 });
  await expect(impatient.messages()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect((await store.getMessages(`memory-${proxy.port}`)).messages).toHaveLength(1);
});

test("so does the driver's", async () => {
  const { proxy, store } = await throughProxy({ socketTimeoutMS: 5_000, retryReads: false });
  proxy.forget();
  const error = await failure(() => store.getMessages("a"));
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { name: "MongoNetworkTimeoutError" } });
  expect((await store.getMessages("a")).version).toBeNull();
});

test("a call that its caller ends costs no connection", async () => {
  const connect = vi.spyOn(MongoClient.prototype, "connect");
  onTestFinished(() => connect.mockRestore());
  const { store } = await throughProxy();
  const controller = new AbortController();
  const call = store.getMessages("a", { signal: controller.signal });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  await store.getMessages("a");
  expect(connect).toHaveBeenCalledTimes(1);
});

test("calls that go on are answered when another one was not", async () => {
  const { proxy, store } = await throughProxy();
  const struck = proxy.strike("stuck", "hang");
  proxy.delay(400);
  const slow = store.getMessages(`there-${proxy.port}`);
  await expect(store.getMessages("stuck", timeOut())).rejects.toMatchObject({ code: "ABORTED" });
  await struck;
  expect((await slow).messages).toHaveLength(1);
  proxy.delay(0);
  expect((await store.getMessages(`there-${proxy.port}`)).messages).toHaveLength(1);
});

test("a connection of the store's own is not kept for long where nobody uses it", async () => {
  const connect = vi.spyOn(MongoClient.prototype, "connect");
  onTestFinished(() => connect.mockRestore());
  const store = mongoStore({ url, database });
  onTestFinished(() => store.close());
  await store.getMessages("a");
  expect(connect.mock.contexts).toMatchObject([{ options: { maxIdleTimeMS: 60_000 } }]);
});

test.each([{}, { retryReads: false }])(
  "a read on connections that broke is made again: %j",
  async (config) => {
    const { proxy, store } = await throughProxy(config);
    const memoryId = `there-${proxy.port}`;
    const large = message(2, JSON.stringify("x".repeat(20_000)));
    const { version } = await store.getMessages(memoryId);
    await store.updateMessages(memoryId, update(version, 3, { append: [large] }));
    const reads = [
      () => store.getMessages(memoryId),
      () => store.getHistory(memoryId, {}),
      () => store.listMemories({}),
    ];
    for (const read of reads) {
      const before = await read();
      proxy.release();
      expect(await read()).toEqual(before);
    }
  },
);
