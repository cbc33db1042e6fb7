import { Socket } from "node:net";
import { message, type NetworkProxy, startProxy, until, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, untilWaiting, withClient } from "./support.ts";

let url: string;
let proxy: NetworkProxy;

beforeAll(async () => {
  url = await newDatabase();
  const store = postgresStore({ url });
  await store.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  await store.close();
  proxy = await startProxy(url);
});
afterAll(() => proxy.stop());

/** What has the driver open its connections by these sockets. */
function overSockets(): { readonly sockets: Socket[]; readonly stream: () => Socket } {
  const sockets: Socket[] = [];
  return { sockets, stream: () => sockets[sockets.push(new Socket()) - 1] as Socket };
}

/** Makes a call that is sent and that nobody answers, and gives it up. */
async function giveUpCall(store: PostgresStore, sockets: readonly Socket[]): Promise<void> {
  const sent = (): number => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  const before = sent();
  const controller = new AbortController();
  const call = store.getMessages("a", { signal: controller.signal });
  await until(() => sent() > before);
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "ABORTED" });
}

const kinds: [string, (config: pg.PoolConfig) => PostgresStore][] = [
  ["a pool that the store opened", (config) => postgresStore({ config })],
  [
    "a pool that was given",
    ({ connectionString = "", ...config }) => {
      const client = openPool(connectionString, config);
      onTestFinished(() => client.end());
      return postgresStore({ client });
    },
  ],
];

describe.each(kinds)("%s", (_, open) => {
  test("costs one call, not one for each connection, when all have silently been cut off", async () => {
    const { sockets, stream } = overSockets();
    const store = open({ connectionString: proxy.through(url), max: 5, idleTimeoutMillis: 0, stream });
    onTestFinished(() => store.close());
    await Promise.all(Array.from({ length: 5 }, () => store.getMessages("a")));
    expect(sockets).toHaveLength(5);
    proxy.forget();
    await giveUpCall(store, sockets);
    for (let n = 0; n < 3; n++) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => store.getMessages("a")));
      for (const { messages } of answers) expect(messages).toEqual([message(1)]);
    }
    await until(() => sockets.slice(0, 5).every(({ destroyed }) => destroyed));
    expect(sockets).toHaveLength(10);
  });

  test("keeps a connection that has answered since", async () => {
    const { sockets, stream } = overSockets();
    const store = open({ connectionString: url, max: 2, stream });
    onTestFinished(() => store.close());
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      const controller = new AbortController();
      const call = store.getMessages("a", { signal: controller.signal });
      await withClient(url, (watcher) => untilWaiting(watcher, 1));
      // This needs none of the locked rows.
      await store.migrate();
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      await holder.query("rollback");
    });
    await store.getMessages("a");
    expect(sockets).toHaveLength(2);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  });
});

test.each([
  ["ten seconds", {}, 10_000],
  ["what its config says", { keepAliveInitialDelayMillis: 3_000 }, 3_000],
] as const)("a pool that the store opened asks a silent connection after %s", async (_, config, ms) => {
  const { sockets, stream } = overSockets();
  const asked = vi.spyOn(Socket.prototype, "setKeepAlive");
  onTestFinished(() => asked.mockRestore());
  const store = postgresStore({ config: { connectionString: url, stream, ...config } });
  await store.getMessages("a");
  expect(sockets).toHaveLength(1);
  expect(asked.mock.calls).toContainEqual([true, ms]);
  await store.close();
});

test("a pool that hands out other objects than it announces is not asked for new connections without end", async () => {
  const { sockets, stream } = overSockets();
  const pool = openPool(proxy.through(url), { max: 1, stream });
  onTestFinished(() => pool.end());
  const client = new Proxy(pool, {
    get: (target, name) =>
      name === "connect" ? async () => new Proxy(await pool.connect(), {}) : Reflect.get(target, name),
  });
  const store = postgresStore({ client });
  await store.getMessages("a");
  proxy.forget();
  await giveUpCall(store, sockets);
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
  await store.getMessages("a");
  expect(sockets).toHaveLength(2);
});
