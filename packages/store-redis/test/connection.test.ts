import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import type { MemoryUpdate } from "@turnkeep/core";
import { type RedisServer, startRedis } from "@turnkeep/servers";
import {
  describeUnanswered,
  expectGivesUpAfter,
  failure,
  message,
  messages,
  said,
  until,
  update,
} from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type NodeRedisClient, type RedisClient, redisStore } from "../src/index.ts";
import { scripts, scriptsOf } from "../src/scripts.ts";
import { newPrefix, refusing, withClient } from "./support.ts";

const url = inject("redisUrl");
const prefix = newPrefix();
/** What a user of Redis must be allowed to do. */
function rightsOfTheReadme(): string[] {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  return (/user chat on .* ~turnkeep:\* (.*)/.exec(readme)?.[1] ?? "").split(" ");
}

/** How many connections of that name there are. */
async function connections(name: string): Promise<number> {
  return withClient(url, async (client) => {
    const list = String(await client.client("LIST"));
    return list.split("\n").filter((line) => line.includes(` name=${name} `)).length;
  });
}

type Reach = (port: number) => Promise<ReturnType<typeof redisStore>>;

const reachBy =
  (open: (port: number) => Promise<RedisClient | NodeRedisClient>): Reach =>
  async (port) =>
    redisStore({ client: await open(port), prefix });

async function givenIoredis(port: number): Promise<RedisClient> {
  const client = new Redis({ port, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

async function givenNodeRedis(port: number): Promise<NodeRedisClient> {
  const client = createClient({ socket: { port } });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.destroy());
  return client;
}

describe("a client that was given", () => {
  test("stays open and keeps its listeners when the store closes", async () => {
    await withClient(url, async (client) => {
      const listeners = client.listenerCount("error");
      const store = redisStore({ client, prefix });
      await store.updateMessages("given", update(null, 2, { append: [message(1)] }));
      expect(client.listenerCount("error")).toBe(listeners);
      await store.close();
      await expect(store.getMessages("given")).rejects.toMatchObject({ code: "CLOSED" });
      expect(await client.ping()).toBe("PONG");
    });
  });

  test("may have a prefix of its own", async () => {
    const client = new Redis(url, { keyPrefix: `${prefix}own:` });
    onTestFinished(() => client.disconnect());
    const store = redisStore({ client });
    await store.updateMessages("prefixed", update(null, 2, { owner: "o", append: [message(1)] }));
    expect((await store.getMessages("prefixed")).messages).toEqual([message(1)]);
    expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(1);
    const same = redisStore({ url, prefix: `${prefix}own:turnkeep:` });
    expect((await same.getMessages("prefixed")).messages).toEqual([message(1)]);
    await same.close();
  });
});

test("a listing and a sweep with a signal bring no warning of Node's about listeners", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const store = redisStore({ url, prefix: newPrefix() });
  onTestFinished(() => store.close());
  const ids = Array.from({ length: 12 }, (_, index) => `many ${index}`);
  await Promise.all(ids.map((id) => store.updateMessages(id, update(null, 2, { append: [message(1)] }))));
  const [listing, sweeping] = [new AbortController(), new AbortController()];
  expect((await store.listMemories({}, listing)).memories).toHaveLength(12);
  await store.sweep(sweeping);
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

describe("a client that the store opened", () => {
  test("is closed by the store", async () => {
    const { hostname, port } = new URL(url);
    const connectionName = `closes-${process.pid}`;
    const store = redisStore({ config: { host: hostname, port: Number(port), connectionName } });
    await store.getMessages("a");
    expect(await connections(connectionName)).toBe(1);
    await store.close();
    await until(async () => (await connections(connectionName)) === 0);
  });

  test("serves the calls that are under way before it closes", async () => {
    const store = redisStore({ url, prefix });
    const calls = Array.from({ length: 5 }, () => store.getMessages("under way"));
    await store.close();
    expect(await Promise.all(calls)).toHaveLength(5);
  });

  test.each([undefined, true, false])(
    "serves the first call also where the driver is to queue nothing, lazyConnect %s",
    async (lazyConnect) => {
      const { hostname, port } = new URL(url);
      const config = {
        host: hostname,
        port: Number(port),
        enableOfflineQueue: false,
        ...(lazyConnect === undefined ? {} : { lazyConnect }),
      };
      const store = redisStore({ config, prefix: newPrefix() });
      onTestFinished(() => store.close());
      const [read] = await Promise.all([store.getMessages("a"), store.listMemories({})]);
      expect(read.version).toBeNull();
    },
  );

  test("outlives a connection that breaks while idle", async () => {
    const { hostname, port } = new URL(url);
    const connectionName = `breaks-${process.pid}`;
    const store = redisStore({ config: { host: hostname, port: Number(port), connectionName } });
    onTestFinished(() => store.close());
    await store.getMessages("a");
    await withClient(url, async (client) => {
      const list = String(await client.client("LIST"));
      const id = new RegExp(`id=(\\d+) .* name=${connectionName} `).exec(list)?.[1] ?? "";
      await client.client("KILL", "ID", id);
    });
    // It may not have heard of it yet: then the call fails, says so, and the next one is served.
    const first: unknown = await store.getMessages("a").catch((error: unknown) => error);
    if (first instanceof Error) expect(first).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await store.getMessages("a")).version).toBeNull();
  });
});

describe("a server that takes a connection and drops it", () => {
  let dropped = 0;
  const server = createServer((socket) => {
    dropped++;
    socket.destroy();
  });
  let port: number;

  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each(["url", "config"])("fails a call without many attempts, by a %s", async (by) => {
    dropped = 0;
    const store = redisStore(
      by === "url" ? { url: `redis://127.0.0.1:${port}` } : { config: { host: "127.0.0.1", port } },
    );
    onTestFinished(() => store.close());
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // The driver makes twenty by itself. It may be on its way to the connection of the next call already.
    expect(dropped).toBeLessThan(10);
  });
});

test.each([
  ["30 seconds", 30_000, {}],
  ["what its config says", 3_000, { commandTimeout: 3_000 }],
] as const)("a command that nobody answers is given up after %s", (_what, ms, over) =>
  expectGivesUpAfter(ms, (port) => redisStore({ config: { host: "127.0.0.1", port, ...over } })),
);

test.each([true, false])(
  "each call says what is wrong with its connection, with the driver's queue %s",
  async (enableOfflineQueue) => {
    const { port: upstreamPort } = new URL(url);
    const free = createServer();
    await once(free.listen(0, "127.0.0.1"), "listening");
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const store = redisStore({ config: { host: "127.0.0.1", port, enableOfflineQueue }, prefix });
    onTestFinished(() => store.close());
    for (let n = 0; n < 2; n++) {
      await expect(store.getMessages("a")).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    }

    let drops = false;
    const server = createServer((socket) => {
      const upstream = connect(Number(upstreamPort), "127.0.0.1");
      socket.on("close", () => upstream.destroy()).pipe(upstream);
      upstream.on("data", (data) => (drops ? socket.end() : socket.write(data)));
    });
    await once(server.listen(port, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    // A call may be refused before the driver has had the time to connect.
    while ((await store.getMessages("a").catch(() => undefined)) === undefined) {
      await new Promise(setImmediate);
    }
    drops = true;
    // The server has done what it was asked, so nobody must read that it was not reached.
    const error = await failure(() => store.getMessages("a"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(said(error)).not.toContain("ECONNREFUSED");
  },
);

describe.each(["redisUrl", "redis70Url", "valkeyUrl"] as const)("a database that %s does not have", (of) => {
  const { hostname, port } = new URL(inject(of));

  test.each([
    ["url", { url: `redis://${hostname}:${port}/4321` }],
    ["config", { config: { host: hostname, port: Number(port), db: 4321 } }],
  ] as const)("is refused by its %s, and no other is written to instead", async (_by, connection) => {
    const own = newPrefix();
    const store = redisStore({ ...connection, prefix: own });
    onTestFinished(() => store.close());
    const begin = update(null, 2, { append: [message(1)] });
    const calls = [store.updateMessages("a", begin), store.getMessages("a")];
    for (const refused of [...calls, store.getMessages("a")]) {
      await expect(refused).rejects.toMatchObject({
        code: "STORE_REFUSED",
        cause: { message: expect.stringContaining("DB index is out of range") },
      });
    }
    await withClient(inject(of), async (client) => expect(await client.keys(`${own}*`)).toEqual([]));
  });
});

test.each([
  ["LOADING Redis is loading the dataset in memory", "STORE_UNAVAILABLE"],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "STORE_UNAVAILABLE"],
  ["CLUSTERDOWN The cluster is down", "STORE_UNAVAILABLE"],
  ["MISCONF Redis is configured to save RDB snapshots, but can't persist to disk.", "STORE_UNAVAILABLE"],
  ["BUSY Redis is busy running a script. You can only call SCRIPT KILL.", "STORE_UNAVAILABLE"],
  ["NOREPLICAS Not enough good replicas to write.", "STORE_UNAVAILABLE"],
  ["MOVED 3999 127.0.0.1:6381", "STORE_REFUSED"],
  ["NOAUTH Authentication required.", "STORE_REFUSED"],
  ["NOPERM User chat has no permissions to run the 'evalsha' command", "STORE_REFUSED"],
  ["READONLY You can't write against a read only replica.", "STORE_UNAVAILABLE"],
  ["ERR Error running script (call to f_0): @user_script:7: -OOM command not allowed", "STORE_REFUSED"],
  ["ERR The user executing the script can't run this command or subcommand", "STORE_REFUSED"],
])("a server that answers %s is %s, wrote nothing, and is asked once", async (answer, code) => {
  const client = refusing(answer);
  const store = redisStore({ client });
  const begin = update(null, 2, { append: [message(1)] });
  const calls = [
    () => store.getHistory("a", {}),
    () => store.updateMessages("a", begin),
    () => store.sweep(),
  ];
  for (const [index, call] of calls.entries()) {
    const error = await failure(call);
    expect(error).toMatchObject({ code, cause: { code: /OOM|[A-Z]{4,}/.exec(answer)?.[0] ?? "NOPERM" } });
    expect((error as Error).message).toContain("Nothing was written");
    expect((error as Error).message).not.toContain("is open");
    expect(client.asked).toBe(index + 1);
  }
});

test("an answer that the store does not know leaves open what took place", async () => {
  const store = redisStore({ client: refusing("ERR max single record size exceeded") });
  await expect(store.sweep()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "ERR" } });
  await expect(store.sweep()).rejects.toThrow("is open");
});

test("a delete whose last step is refused does not say that nothing was written", async () => {
  await withClient(url, async (redis) => {
    const client: RedisClient = {
      call: (command, args) =>
        args[0] === scripts.leave.sha ? refusing("NOPERM no").call() : redis.call(command, args),
    };
    const store = redisStore({ client, prefix });
    await store.updateMessages("half", update(null, 2, { append: [message(1)] }));
    const error = await failure(() => store.deleteMessages("half"));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "NOPERM" } });
    expect((error as Error).message).toContain("is open");
    expect((await store.getMessages("half")).version).toBeNull();
  });
});

test("a host that nobody knows is STORE_REFUSED", async () => {
  const store = redisStore({ url: "redis://app:s3cret@no-such-host.invalid:6379" });
  onTestFinished(() => store.close());
  const error = await failure(() => store.getMessages("a"));
  const { code, cause } = error as { code: string; cause: { code: string } };
  // Where names cannot be asked for at all, it is open.
  expect([code, cause.code]).toEqual(
    cause.code === "EAI_AGAIN" ? ["STORE_UNAVAILABLE", "EAI_AGAIN"] : ["STORE_REFUSED", "ENOTFOUND"],
  );
  expect(said(error)).not.toContain("s3cret");
});

test("a store closes whose client could not be made", async () => {
  const store = redisStore({ config: { sentinels: [], name: "none" } });
  await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await store.close();
});

describeUnanswered((port, giveUpAfterMs) =>
  redisStore({ config: { host: "127.0.0.1", port, password: "s3cret", commandTimeout: giveUpAfterMs } }),
);

describe.each(["redis", "valkey"] as const)("a %s of its own", (engine) => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis({ engine, sources: ["machine", "cache"], appendfsync: "always" });
  });
  afterAll(() => server.stop());

  test("killed and started again, it has lost nothing that was acknowledged", async () => {
    const store = redisStore({ url: server.url, prefix });
    const acknowledged: string[] = [];
    let version: string | null = null;
    let restarting: Promise<void> | undefined;
    let failures = 0;
    for (let n = 1; n <= 300; n++) {
      const snapshot = await store.getMessages("killed").catch((error: { code?: string }) => {
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
        failures++;
        return undefined;
      });
      if (snapshot === undefined) {
        await restarting;
        n--;
        continue;
      }
      version = snapshot.version;
      // An acknowledged append is never missing; one that failed may be there.
      const seen = snapshot.messages.map(({ id }) => id);
      expect(seen.filter((id) => acknowledged.includes(id))).toEqual(acknowledged);
      const { nextSeq } = snapshot;
      const id = `append ${n}`;
      const owner = version === null ? "o" : undefined;
      const change = update(version, nextSeq + 1, { owner, append: [{ ...message(nextSeq), id }] });
      const call = store.updateMessages("killed", change);
      if (n === 100) restarting = server.restart();
      await call.then(
        () => acknowledged.push(id),
        (error: { code?: string }) => {
          expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
          failures++;
        },
      );
    }
    await restarting;
    expect(failures).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(290);
    const { memories } = await store.listMemories({ owner: "o" });
    expect(memories.map(({ memoryId }) => memoryId)).toEqual(["killed"]);
    await store.close();
  });

  test("forgets its scripts in a restart, and gets them again", async () => {
    const store = redisStore({ url: server.url, prefix });
    const begin = update(null, 3, { append: messages(1, 2) });
    await store.updateMessages("again", begin);
    await server.restart();
    const append = update(begin.version, 4, { append: [message(3)] });
    // The connection may not have heard of it yet.
    await store.updateMessages("again", append).catch(() => store.updateMessages("again", append));
    expect((await store.getMessages("again")).messages).toEqual(messages(1, 3));
    await store.close();
  });

  test("a wrong password is STORE_REFUSED, and no password shows anywhere", async () => {
    await withClient(server.url, async (client) => {
      await client.call("ACL", ["SETUSER", "app", "on", ">r1ght", "~*", "+@all"]);
    });
    const address = new URL(server.url);
    address.username = "app";
    address.password = "s3cret";
    const store = redisStore({ url: address.href });
    const error = await failure(() => store.getMessages("a"));
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: "WRONGPASS" } });
    expect(said(error)).not.toMatch(/s3cret|r1ght/);
    await store.close();
  });

  test("a user with the README's rights can do everything, and one who may only read is told so", async () => {
    const rights = rightsOfTheReadme();
    await withClient(server.url, async (client) => {
      await client.call("ACL", ["SETUSER", "chat", "on", ">s3cret", `~${prefix}*`, ...rights]);
      await client.call("ACL", [
        "SETUSER",
        "reader",
        "on",
        ">s3cret",
        "~*",
        "+@read",
        "+@scripting",
        "+time",
      ]);
    });
    const open = (user: string) => {
      const address = Object.assign(new URL(server.url), { username: user, password: "s3cret" });
      return redisStore({ url: address.href, prefix, ttlMs: 3_600_000 });
    };
    const store = open("chat");
    const begin = update(null, 4, { owner: "acl", head: "1", append: messages(1, 3) });
    await store.updateMessages("acl", begin);
    const replace = [message(3, '"new"')];
    const move = [1, 2].map((seq) => ({ seq, to: seq === 1 ? ("evicted" as const) : ("removed" as const) }));
    const next = update(begin.version, 5, { append: [message(4)], replace, move });
    await store.updateMessages("acl", next);
    await store.updateMessages("acl", update(next.version, 5, { move: [{ seq: 4, to: "evicted" }] }));
    expect((await store.getMessages("acl")).messages).toEqual(replace);
    for (const query of [
      { order: "descending" as const },
      { ids: [message(1).id] },
      { states: ["evicted" as const] },
    ]) {
      expect((await store.getHistory("acl", query)).messages.length).toBeGreaterThan(0);
    }
    expect((await store.listMemories({ owner: "acl" })).memories).toHaveLength(1);
    expect((await store.listMemories({})).memories.length).toBeGreaterThan(0);
    await store.sweep();
    await store.deleteMessages("acl");
    await store.close();

    const reader = open("reader");
    expect((await reader.getMessages("acl")).version).toBeNull();
    const secret = update(null, 2, { append: [message(1, '"private words"')] });
    const error = await failure(() => reader.updateMessages("acl", secret));
    expect(error).toMatchObject({ code: "STORE_REFUSED" });
    expect(said(error)).not.toMatch(/s3cret|private words/);
    await reader.close();
  });

  test("a user who is allowed his database only later is served from then on, and never in another", async () => {
    const own = newPrefix();
    await withClient(server.url, async (client) => {
      await client.call("ACL", ["SETUSER", "later", "on", ">s3cret", "~*", "+@all", "-select"]);
      const address = Object.assign(new URL(server.url), {
        username: "later",
        password: "s3cret",
        pathname: "/3",
      });
      const store = redisStore({ url: address.href, prefix: own });
      onTestFinished(() => store.close());
      const begin = update(null, 2, { append: [message(1)] });
      for (const call of [() => store.updateMessages("later", begin), () => store.getMessages("later")]) {
        await expect(call()).rejects.toMatchObject({ code: "STORE_REFUSED", cause: { code: "NOPERM" } });
      }
      await client.call("ACL", ["SETUSER", "later", "+select"]);
      await store.updateMessages("later", begin);
      expect((await store.getMessages("later")).messages).toEqual([message(1)]);
      expect(await client.keys(`${own}*`)).toEqual([]);
    });
  });

  test("a replica refuses writes as READONLY, and serves again once it is a master", async () => {
    const store = redisStore({ url: server.url, prefix });
    await withClient(server.url, async (client) => {
      await client.call("REPLICAOF", ["127.0.0.1", "1"]);
      const begin = update(null, 2, { append: [message(1, '"private words"')] });
      const error = await failure(() => store.updateMessages("replica", begin));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "READONLY" } });
      expect((error as Error).message).toContain("Nothing was written");
      expect(said(error)).not.toContain("private words");
      await client.call("REPLICAOF", ["NO", "ONE"]);
      await store.updateMessages("replica", begin).catch(() => store.updateMessages("replica", begin));
      expect((await store.getMessages("replica")).version).toBe(begin.version);
    });
    await store.close();
  });

  test("a user without one of the README's rights is refused, and nothing acknowledged is lost", async () => {
    const rights = rightsOfTheReadme();
    const begin = update(null, 4, { owner: "rights", append: messages(1, 3) });
    for (const [place, right] of rights.entries()) {
      const [id, user] = [`without ${right}`, `without${place}`];
      // What the lean script calls is also called by the general one, which ends an expiry.
      const wholeTtlMs = /hdel|zadd|zrem/.test(right) ? undefined : 3_600_000;
      const whole = redisStore({ url: server.url, prefix, ttlMs: wholeTtlMs });
      await whole.updateMessages(id, begin);
      await withClient(server.url, async (client) => {
        const others = rights.filter((other) => other !== right);
        await client.call("ACL", ["SETUSER", user, "on", ">s3cret", `~${prefix}*`, ...others]);
      });
      const address = Object.assign(new URL(server.url), { username: user, password: "s3cret" });
      // A store without ttlMs ends the expiry, one with ttlMs prolongs it.
      const ttlMs = /pexpireat|pttl/.test(right) ? 3_600_000 : undefined;
      const store = redisStore({ url: address.href, prefix, ttlMs });
      const changes: Partial<MemoryUpdate>[] = [
        { append: [message(4)], move: [{ seq: 1, to: "evicted" }] },
        { move: [{ seq: 1, to: "evicted" }] },
        { move: [{ seq: 1, to: "removed" }] },
        { replace: [message(2, '"new"')], move: [{ seq: 2, to: "superseded" }] },
      ];
      for (const change of changes) {
        const read = async () => [await whole.getMessages(id), await whole.getHistory(id, {})] as const;
        const before = await read();
        const next = update(before[0].version, 5, change);
        const error = await store.updateMessages(id, next).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const after = await read();
        if (error !== undefined) {
          expect(after, `${right}: ${JSON.stringify(change)}`).toEqual(before);
          continue;
        }
        expect(after[0].version).toBe(next.version);
        await whole.deleteMessages(id);
        await whole.updateMessages(id, begin);
      }
      await Promise.all([store.close(), whole.close()]);
    }
  });

  const redis7 = "-$1";
  const redis6 = "-ERR Error running script (call to f_00ff): @user_script:7: @user_script: 7: -$1";
  const own: Reach = async (port) => redisStore({ url: `redis://127.0.0.1:${port}`, prefix });

  test.each<[string, string, Reach]>([
    ["the store's own client, with Redis 7", redis7, own],
    ["the store's own client, with Redis 6.2", redis6, own],
    ["ioredis", redis7, reachBy(givenIoredis)],
    ["node-redis", redis7, reachBy(givenNodeRedis)],
  ])(
    "an address that leads from a replica to the master is connected to anew by %s",
    async (by, words, reach) => {
      const id = `moved ${by}`;
      const master = await startRedis({ engine, sources: ["machine", "cache"] });
      onTestFinished(() => master.stop());
      await withClient(server.url, (client) =>
        client.call("REPLICAOF", ["127.0.0.1", new URL(master.url).port]),
      );
      onTestFinished(() =>
        withClient(server.url, async (client) => void (await client.call("REPLICAOF", ["NO", "ONE"]))),
      );
      let target = server.url;
      const address = createServer((socket) => {
        const upstream = connect(Number(new URL(target).port), "127.0.0.1");
        socket.on("error", () => {}).on("close", () => upstream.destroy());
        upstream.on("error", () => {}).on("close", () => socket.destroy());
        socket.pipe(upstream).on("data", (data) => {
          socket.write(data.toString("latin1").replace(/^-(READONLY [^\r]*)/, words), "latin1");
        });
      });
      await once(address.listen(0, "127.0.0.1"), "listening");
      onTestFinished(() => void address.close());
      const store = await reach((address.address() as AddressInfo).port);
      onTestFinished(() => store.close());
      const begin = update(null, 2, { append: [message(1)] });
      const write = (): Promise<void> => store.updateMessages(id, begin);
      await expect(write()).rejects.toMatchObject({ cause: { code: "READONLY" } });
      target = master.url;
      // The call that is refused has the connection dropped; the one that meets the dropping may fail.
      await write().catch(() => {});
      await write().catch(write);
      expect((await store.getMessages(id)).version).toBe(begin.version);
    },
  );

  /** Another server that has all that this one has. */
  async function replicaOfServer(): Promise<RedisServer> {
    const replica = await startRedis({ engine, sources: ["machine", "cache"] });
    onTestFinished(() => replica.stop());
    await withClient(replica.url, async (client) => {
      await client.call("REPLICAOF", ["127.0.0.1", new URL(server.url).port]);
      await until(async () => /master_link_status:up/.test(await client.info("replication")));
    });
    return replica;
  }

  /** Calls while that server stands still. */
  async function whileStopped(stopped: RedisServer, call: () => Promise<void>): Promise<void> {
    const info = await withClient(stopped.url, (client) => client.info("server"));
    const pid = Number(/process_id:(\d+)/.exec(info)?.[1]);
    process.kill(pid, "SIGSTOP");
    try {
      await call();
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }

  test("waits for replicas, and says so when there are too few", async () => {
    const options = { url: server.url, prefix, waitReplicas: { count: 1, timeoutMs: 50 } };
    const begin = update(null, 2, { append: [message(1)] });
    const store = redisStore(options);
    const error = await failure(() => store.updateMessages("waits", begin));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(said((error as Error).cause)).toContain("only 0 of 1 replicas within 50 ms");
    expect((await store.getMessages("waits")).version).toBe(begin.version);

    const replica = await replicaOfServer();
    const patient = redisStore({ ...options, waitReplicas: { count: 1, timeoutMs: 20_000 } });
    await patient.updateMessages("waits", update(begin.version, 3, { append: [message(2)] }));
    const reader = redisStore({ url: replica.url, prefix });
    expect((await reader.getMessages("waits")).messages).toEqual(messages(1, 2));

    // What was written by another connection is waited for too.
    const append = update((await store.getMessages("waits")).version, 4, { append: [message(3)] });
    const others = [redisStore(options), redisStore(options), redisStore(options)] as const;
    for (const [first, again] of [
      [() => store.updateMessages("waits", append), () => others[0].updateMessages("waits", append)],
      [() => others[1].deleteMessages("waits"), () => others[2].deleteMessages("waits")],
    ] as const) {
      await whileStopped(replica, async () => {
        for (const write of [first, again]) {
          await expect(write()).rejects.toMatchObject({
            cause: { message: expect.stringContaining("0 of 1 replicas") },
          });
        }
      });
    }
    await Promise.all([store, patient, reader, ...others].map((each) => each.close()));
  });

  type Breakable = (RedisClient | NodeRedisClient) & { once(event: "ready", listener: () => void): unknown };

  function ofIoredis(options: object): Breakable {
    const client = new Redis(server.url, options);
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    return client;
  }

  async function ofNodeRedis(create: typeof createClient): Promise<Breakable> {
    const client = create({ url: server.url });
    client.on("error", () => {});
    await client.connect();
    onTestFinished(() => void (client.destroy ?? client.disconnect).call(client));
    return client;
  }

  const single = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
  const breakable: [string, () => Breakable | Promise<Breakable>][] = [
    ["ioredis as in the README", () => ofIoredis(single)],
    ["ioredis with its defaults", () => ofIoredis({})],
    ["node-redis 6", () => ofNodeRedis(createClient)],
    ["node-redis 4", () => ofNodeRedis(createClient4 as unknown as typeof createClient)],
  ];

  test.each(breakable)(
    "does not take a write for one that replicas have if its connection broke before they answered: %s",
    async (name, open) => {
      const replica = await replicaOfServer();
      const client = await open();
      const send = "call" in client ? "call" : "sendCommand";
      const sender = client as unknown as Record<typeof send, (...args: never[]) => Promise<unknown>>;
      const original = sender[send].bind(client);
      let breaks: "before it waits" | "while it waits" | undefined;
      sender[send] = async (...args) => {
        if (breaks === undefined || !/^wait,/.test(String(args))) return original(...args);
        const renewed = new Promise<void>((resolve) => void client.once("ready", resolve));
        const answer = breaks === "while it waits" ? original(...args) : undefined;
        answer?.catch(() => {});
        breaks = undefined;
        await withClient(server.url, (admin) => admin.call("CLIENT", ["KILL", "TYPE", "normal"]));
        await renewed;
        return answer ?? original(...args);
      };
      const store = redisStore({ client, prefix, waitReplicas: { count: 1, timeoutMs: 20_000 } });
      for (const when of ["before it waits", "while it waits"] as const) {
        const id = `${name} ${when}`;
        const begin = update(null, 2, { append: [message(1)] });
        await store.updateMessages(id, begin);
        const next = update(begin.version, 3, { append: [message(2)] });
        await whileStopped(replica, async () => {
          breaks = when;
          await expect(store.updateMessages(id, next)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        });
        expect(breaks).toBeUndefined();
        // On the connection that is there now, it is waited for once more.
        await store.updateMessages(id, next);
      }
    },
  );

  test.each<[script: "note" | "leave", change: Partial<MemoryUpdate>]>([
    ["note", { head: "2" }],
    ["leave", { owner: "bob" }],
  ])(
    "does not take a write for one that replicas have if its connection broke before they were asked: %s",
    async (script, change) => {
      const replica = await replicaOfServer();
      const { sha } = scriptsOf(1)[script];
      const redis = new Redis(server.url, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
      redis.on("error", () => {});
      onTestFinished(() => redis.disconnect());
      let isCut = false;
      const client: RedisClient = {
        async call(command, args) {
          const answer = redis.call(command, args);
          if (args[0] !== sha || isCut) return answer;
          isCut = true;
          answer.catch(() => {});
          redis.stream.destroy();
          await once(redis, "ready");
          return answer;
        },
      };
      const options = { client, prefix, activityMs: 1, waitReplicas: { count: 1, timeoutMs: 20_000 } };
      const store = redisStore(options);
      const begin = update(null, 2, { owner: "ann", append: [message(1)] });
      await store.updateMessages(`broken ${script}`, begin);
      await whileStopped(replica, async () => {
        const next = update(begin.version, 2, change);
        const call = store.updateMessages(`broken ${script}`, next);
        await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      });
      expect(isCut).toBe(true);
    },
  );
});
