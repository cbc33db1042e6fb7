import { promises } from "node:dns";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { describeUnanswered, failure, message, said, update } from "@turnkeep/store-tests";
import { MongoServerError, MongoWriteConcernError } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type MongoStoreOptions, mongoStore } from "../src/index.ts";
import { intercepted, migrated, newDatabase, withClient } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();

beforeAll(() => migrated(url, database));
afterAll(() => withClient(url, (client) => client.db(database).dropDatabase()));

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
});

describeUnanswered((port, giveUpAfterMs) =>
  mongoStore({ url: `mongodb://app:s3cret@127.0.0.1:${port}/?serverSelectionTimeoutMS=${giveUpAfterMs}` }),
);

test.each<[string, (address: string) => MongoStoreOptions]>([
  ["an address, in lower case", (address) => ({ url: `${address}?serverselectiontimeoutms=200` })],
  ["a config", (address) => ({ config: { url: address, serverSelectionTimeoutMS: 200 } })],
])("what %s says of time-outs counts", async (_, optionsOf) => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const store = mongoStore(optionsOf(`mongodb://127.0.0.1:${(silent.address() as AddressInfo).port}/`));
  onTestFinished(() => store.close());
  const error = await failure(() => store.getMessages("a"));
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { name: "MongoServerSelectionError" } });
  expect(said(error)).toContain("200 ms");
});

test("a write that no majority confirms is not called a refused insert", async () => {
  await withClient(url, async (client) => {
    const writeConcernError = { code: 64, codeName: "WriteConcernFailed", errmsg: "waiting timed out" };
    const unconfirmed = intercepted(client, (method) => {
      if (method === "updateOne") throw new MongoWriteConcernError({ ok: 1, writeConcernError });
    });
    const store = mongoStore({ client: unconfirmed, database });
    const change = update(null, 2, { append: [message(1)] });
    const error = await failure(() => store.updateMessages("unconfirmed", change));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: 64 } });
    expect(said(error)).not.toContain("refused");
  });
});

// As a server answers that steps down, shuts down, has no majority in time, throttles (Cosmos DB, Atlas) or meets a conflict.
test.each([10107, 13435, 189, 91, 11600, 11602, 64, 16500, 8000, 112, 50])(
  "the server's error %i is STORE_UNAVAILABLE, and the update is sent once",
  async (code) => {
    await withClient(url, async (client) => {
      let sent = 0;
      const refusing = intercepted(client, (method) => {
        if (method !== "updateOne") return;
        sent++;
        throw new MongoServerError({ ok: 0, code, errmsg: "refused { payload: 'private words' }" });
      });
      const store = mongoStore({ client: refusing, database });
      const error = await failure(() =>
        store.updateMessages(`refused ${code}`, update(null, 2, { append: [message(1)] })),
      );
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code } });
      expect(said(error)).not.toContain("private words");
      expect(sent).toBe(1);
    });
  },
);

// As Atlas answers, which has one code for all of its own.
test.each([
  ["bad auth : authentication failed", "password"],
  ["user is not allowed to do action [update] on [chat.turnkeep_memories]", "readWrite"],
  ["you are over your space quota, using 512 MB of 512 MB", "room"],
])("the server's error 8000 with %j is STORE_REFUSED", async (errmsg, hint) => {
  await withClient(url, async (client) => {
    const refusing = intercepted(client, (method) => {
      if (method === "updateOne") throw new MongoServerError({ ok: 0, code: 8000, errmsg });
    });
    const call = mongoStore({ client: refusing, database }).updateMessages("refused", update(null, 2));
    const message = expect.stringContaining(hint);
    await expect(call).rejects.toMatchObject({ code: "STORE_REFUSED", message, cause: { code: 8000 } });
  });
});

describe("a host that nobody knows", () => {
  const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND nowhere.invalid"), { code: "ENOTFOUND" });
  /** As a name server answers, also where a machine has none. */
  const lookup = (
    host: string,
    _: object,
    done: (error: Error | null, address?: string, family?: 4) => void,
  ) => (host === "nowhere.invalid" ? done(unknown) : done(null, host, 4));
  const expectRefused = async (address: string): Promise<void> => {
    const store = mongoStore({ config: { url: address, serverSelectionTimeoutMS: 500, lookup } });
    onTestFinished(() => store.close());
    const message = expect.stringContaining("no host of the address");
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_REFUSED", message });
  };

  test("is STORE_REFUSED", async () => {
    await expectRefused("mongodb://nowhere.invalid/");
    await expectRefused("mongodb://nowhere.invalid,nowhere.invalid:1/?replicaSet=rs0");
  });

  test("is STORE_REFUSED where a name stands for several", async () => {
    const resolve = vi.spyOn(promises, "resolveSrv").mockRejectedValue(unknown);
    onTestFinished(() => resolve.mockRestore());
    await expectRefused("mongodb+srv://nowhere.invalid/");
  });

  test("is STORE_UNAVAILABLE beside one that is down", async () => {
    const address = "mongodb://nowhere.invalid,127.0.0.1:1/?replicaSet=rs0";
    const store = mongoStore({ config: { url: address, serverSelectionTimeoutMS: 500, lookup } });
    onTestFinished(() => store.close());
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

test("a memory whose document has no room left is STORE_REFUSED, and as it was", async () => {
  await withClient(url, async (client) => {
    const store = mongoStore({ client, database });
    const crowd = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({
        ...message(from + at),
        id: `${from + at}`.padEnd(256, "x"),
      }));
    let last = update(null, 20_001, { append: crowd(1, 20_000) });
    await store.updateMessages("crowded", last);
    const append = (count: number) => {
      const { version, nextSeq } = last;
      last = update(version, nextSeq + count, { append: crowd(nextSeq, count) });
      return store.updateMessages("crowded", last);
    };
    await append(20_000);
    const { version } = await store.getMessages("crowded");
    const error = await failure(() => append(20_000));
    expect(error).toMatchObject({ code: "STORE_REFUSED", message: expect.stringContaining("16 MiB") });
    const now = await store.getMessages("crowded");
    expect(now.version).toBe(version);
    expect(now.messages).toHaveLength(40_000);
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
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: 121 } });
    expect(said(error)).not.toContain("private words");
    expect((await store.getMessages("refused")).version).toBeNull();
  });
});
