import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import { message, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { mongoStore } from "../src/index.ts";
import { migrated, newDatabase, withClient } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();

beforeAll(() => migrated(url, database));
afterAll(() => withClient(url, (client) => client.db(database).dropDatabase()));

/** Everything an error says, its causes included. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const members = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return [error.message, error.stack, members, error.cause === undefined ? "" : said(error.cause)].join();
}

async function failure(call: () => Promise<unknown>): Promise<unknown> {
  return call().then(
    () => {
      throw new Error("The call succeeded");
    },
    (error: unknown) => error,
  );
}

/** How many connections of that name there are. */
async function connections(name: string): Promise<number> {
  return withClient(url, async (client) => {
    const pipeline = [
      { $currentOp: { allUsers: true, idleConnections: true } },
      { $match: { appName: name } },
    ];
    return (await client.db("admin").aggregate(pipeline).toArray()).length;
  });
}

test("a client that was given stays open when the store closes", async () => {
  await withClient(url, async (client) => {
    const store = mongoStore({ client, database });
    await store.updateMessages("given", update(null, 2, { append: [message(1)] }));
    await store.close();
    await expect(store.getMessages("given")).rejects.toMatchObject({ code: "CLOSED" });
    expect(await client.db(database).command({ ping: 1 })).toMatchObject({ ok: 1 });
  });
});

describe("a client that the store opened", () => {
  test("is closed by the store", async () => {
    const appName = `closes-${process.pid}`;
    const config = { url, appName };
    const store = mongoStore({ config, database });
    await store.getMessages("a");
    expect(await connections(appName)).toBeGreaterThan(0);
    await store.close();
    await expect.poll(() => connections(appName)).toBe(0);
  });

  test("outlives connections that break", async () => {
    const store = mongoStore({ url, database });
    onTestFinished(() => store.close());
    await store.getMessages("a");
    await withClient(url, (client) => client.db("admin").command({ dropConnections: 1, hostAndPort: [] }));
    expect((await store.getMessages("a")).version).toBeNull();
  });

  test("a signal that has fired stops a call before anything is sent", async () => {
    const store = mongoStore({ url: "mongodb://127.0.0.1:1" });
    const options = { signal: AbortSignal.abort() };
    const calls = [
      () => store.migrate(options),
      () => store.getMessages("a", options),
      () => store.updateMessages("a", update(null, 1), options),
      () => store.deleteMessages("a", options),
      () => store.getHistory("a", {}, options),
      () => store.listMemories({}, options),
      () => store.sweep(options),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
  });

  test("finds a server that was not there at first", async () => {
    const late = createServer((socket) => {
      const { hostname, port } = new URL(url);
      const onward = createConnection(Number(port), hostname);
      for (const end of [socket, onward]) end.on("error", () => {});
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => late.listen(0, "127.0.0.1", resolve));
    const { port } = late.address() as AddressInfo;
    await new Promise((resolve) => late.close(resolve));
    const address = `mongodb://127.0.0.1:${port}/?serverSelectionTimeoutMS=200&directConnection=true`;
    const store = mongoStore({ url: address, database });
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await new Promise<void>((resolve) => late.listen(port, "127.0.0.1", resolve));
    expect((await store.getMessages("a")).version).toBeNull();
    await store.close();
    await new Promise((resolve) => late.close(resolve));
  });

  test("a server that is not there is STORE_UNAVAILABLE, says why, and tells no password", async () => {
    const store = mongoStore({ url: "mongodb://app:s3cret@127.0.0.1:1/?serverSelectionTimeoutMS=200" });
    const append = update(null, 2, { append: [message(1, '"private words"')] });
    for (const call of [() => store.getMessages("a"), () => store.updateMessages("a", append)]) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(said(error)).toContain("ECONNREFUSED");
      expect(said(error)).not.toMatch(/s3cret|private words/);
    }
    await store.close();
  });
});

describe("a server that accepts and never answers", () => {
  let server: Server;
  const sockets = new Set<Socket>();
  let silent: string;

  beforeAll(async () => {
    server = createServer((socket) => sockets.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    silent = `mongodb://app:s3cret@127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test("ends by the caller's signal", async () => {
    const store = mongoStore({ url: silent });
    const controller = new AbortController();
    const call = store.getMessages("a", { signal: controller.signal });
    await expect.poll(() => sockets.size).toBeGreaterThan(0);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
  });

  test("ends by the driver's time-out as STORE_UNAVAILABLE, and tells no password", async () => {
    const store = mongoStore({ config: { url: `${silent}/?serverSelectionTimeoutMS=300` } });
    const error = await failure(() => store.getMessages("a"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(said(error)).not.toContain("s3cret");
    await store.close();
  });
});

test("an insert that the server refuses tells no content", async () => {
  await withClient(url, async (client) => {
    const store = mongoStore({ client, database });
    const collection = client.db(database).collection("turnkeep_messages");
    await client.db(database).command({ collMod: collection.collectionName, validator: { never: 1 } });
    onTestFinished(() =>
      withClient(url, (again) =>
        again.db(database).command({ collMod: collection.collectionName, validator: {} }),
      ).then(() => {}),
    );
    const change = update(null, 2, { append: [message(1, `"private words ${"x".repeat(20_000)}"`)] });
    const error = await failure(() => store.updateMessages("refused", change));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: 121 } });
    expect(said(error)).not.toContain("private words");
    expect((await store.getMessages("refused")).version).toBeNull();
  });
});
