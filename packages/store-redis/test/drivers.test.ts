import { describeConformance } from "@turnkeep/conformance/vitest";
import { createChatMemory, user } from "@turnkeep/core";
import { startRedis } from "@turnkeep/servers";
import { failure, message, messages, said, update } from "@turnkeep/store-tests";
import { Redis as RestClient } from "@upstash/redis";
import { Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { Redis as Redis58 } from "ioredis58";
import { Redis as Redis511 } from "ioredis511";
import { createClient, createClientPool } from "redis";
import { createClient as createClient4 } from "redis4";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type NodeRedisClient, type RedisClient, redisStore } from "../src/index.ts";
import { keysOf, newPrefix, rawRead, rawRemove, rawWrite } from "./support.ts";
import { type RestServer, startRestServer } from "./upstash.ts";

// Of its own: it forgets its scripts, which others would notice who count what they send.
const { url, stop } = await startRedis({ sources: ["machine", "cache"] });
const port = Number(new URL(url).port);
const admin = new Redis(url);
afterAll(async () => {
  admin.disconnect();
  await stop();
});

/** A memory from its beginning to its end. Answers what a reader saw on the way. */
async function live(client: RedisClient | NodeRedisClient, prefix: string, id: string): Promise<void> {
  const store = redisStore({ client, prefix });
  const begin = update(null, 4, { owner: id, head: "{}", append: messages(1, 3) });
  await store.updateMessages(id, begin);
  const next = update(begin.version, 5, {
    append: [message(4, '"é🙂\\u0000"')],
    replace: [message(3, '"new"')],
    move: [
      { seq: 1, to: "evicted" },
      { seq: 2, to: "superseded" },
    ],
  });
  await store.updateMessages(id, next);
  await store.updateMessages(id, update(next.version, 6, { append: [message(5)] }));
  expect(await store.getMessages(id)).toMatchObject({
    ...{ nextSeq: 6, owner: id, head: "{}" },
    messages: [message(3, '"new"'), message(4, '"é🙂\\u0000"'), message(5)],
  });
  expect((await store.getHistory(id, { ids: [message(1).id] })).messages).toHaveLength(1);
  expect((await store.getHistory(id, {})).messages).toHaveLength(5);
  expect((await store.listMemories({ owner: id })).memories).toMatchObject([{ memoryId: id }]);
  await expect(store.updateMessages(id, begin)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  await store.sweep();
}

describe.each([
  ["5.0", (keyPrefix?: string) => new ioredis5.default({ port, ...(keyPrefix && { keyPrefix }) })],
  ["5.8", (keyPrefix?: string) => new Redis58({ port, ...(keyPrefix && { keyPrefix }) })],
  ["the newest of 5", (keyPrefix?: string) => new Redis511({ port, ...(keyPrefix && { keyPrefix }) })],
  ["the newest", (keyPrefix?: string) => new Redis({ port, ...(keyPrefix && { keyPrefix }) })],
] as const)("ioredis %s", (_version, open) => {
  test.each([undefined, "acme:"])("puts every key under its keyPrefix %s", async (keyPrefix) => {
    const [client, own] = [open(keyPrefix), newPrefix()];
    onTestFinished(() => client.disconnect());
    await live(client, own, "a");
    const keys = (await admin.keys(`*${own}*`)).sort();
    const name = `${keyPrefix ?? ""}${own}`;
    const tag = Buffer.from("a").toString("base64url");
    expect(keys).toEqual(
      [
        ...["last", "all", "newest:all", `owner:${tag}`, `newest:owner:${tag}`].map(
          (key) => `${name}index:{index}:${key}`,
        ),
        ...["head", "ids", "messages", "states"].map((key) => `${name}memory:{${tag}}:${key}`),
      ].sort(),
    );
    await redisStore({ client, prefix: own }).deleteMessages("a");
    expect(await keysOf(admin, name, "a")).toEqual([]);
  });

  test("a tenant by its keyPrefix neither sees nor erases another's conversation", async () => {
    const [acme, beta, prefix] = [open("acme:"), open("beta:"), newPrefix()];
    onTestFinished(() => [acme, beta].forEach((client) => void client.disconnect()));
    const store = redisStore({ client: acme, prefix });
    await store.updateMessages("support", update(null, 2, { append: [message(1)] }));
    const other = redisStore({ client: beta, prefix });
    expect((await other.getMessages("support")).version).toBeNull();
    expect((await other.listMemories({})).memories).toEqual([]);
    await other.deleteMessages("support");
    expect((await store.getMessages("support")).messages).toEqual([message(1)]);
  });
});

describe("node-redis", () => {
  const clients = {
    "node-redis 6": createClient({ url }),
    "node-redis 4": createClient4({ url }),
    "a pool of node-redis 6": createClientPool({ url }),
  };
  beforeAll(async () => {
    await Promise.all(Object.values(clients).map((client) => client.connect()));
  });
  afterAll(async () => {
    clients["node-redis 6"].destroy();
    await clients["node-redis 4"].disconnect();
    clients["a pool of node-redis 6"].destroy();
  });

  test.each(Object.keys(clients) as (keyof typeof clients)[])(
    "%s is taken as it is, and sends scripts again that the server has forgotten",
    async (name) => {
      const [client, prefix] = [clients[name], newPrefix()];
      await live(client, prefix, "a");
      await admin.script("FLUSH");
      await live(client, prefix, "b");
      const memory = createChatMemory({ id: "m", store: redisStore({ client, prefix }) });
      await memory.add(user("Hello"));
      expect(await memory.messages()).toEqual([user("Hello")]);
      expect(client.isOpen).toBe(true);
    },
  );

  test("takes no pool where a write is to wait for replicas, which only its own connection can", () => {
    const waitReplicas = { count: 1, timeoutMs: 100 };
    expect(() => redisStore({ client: clients["a pool of node-redis 6"], waitReplicas })).toThrow("pool");
    expect(() => redisStore({ client: clients["node-redis 6"], waitReplicas })).not.toThrow();
  });

  test("a refusal says what to do, as with ioredis", async () => {
    await admin.call("ACL", [
      "SETUSER",
      "reader",
      "on",
      ">s3cret",
      "~*",
      "+@read",
      "+@scripting",
      "+@connection",
    ]);
    const client = createClient({ url, username: "reader", password: "s3cret" });
    client.on("error", () => {});
    await client.connect();
    onTestFinished(() => client.destroy());
    const begin = update(null, 2, { append: [message(1, '"private words"')] });
    const error = await failure(() => redisStore({ client, prefix: newPrefix() }).updateMessages("a", begin));
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: "NOPERM" } });
    expect(said(error)).not.toMatch(/s3cret|private words/);
  });

  const prefix = newPrefix();
  describeConformance(
    "node-redis 6",
    {
      create: (options) => redisStore({ client: clients["node-redis 6"], prefix, ...options }),
      rawRead: (memoryId) => rawRead(admin, prefix, memoryId),
      rawWrite: (memoryId, texts) => rawWrite(admin, prefix, memoryId, texts),
      rawRemove: (memoryId, index) => rawRemove(admin, prefix, memoryId, index),
    },
    // The same scripts on the same server; what may differ is how a driver sends and reads.
    { groups: ["basic", "payloads", "ids", "errors"] },
  );
});

describe("Upstash's client over REST", () => {
  let server: RestServer;
  let client: RedisClient;

  function open(token = server.token): RedisClient {
    const redis = new RestClient({
      url: server.url,
      token,
      automaticDeserialization: false,
      enableAutoPipelining: false,
      retry: { retries: 0 },
    });
    return { call: (command, args) => redis.exec([command, ...args]) };
  }
  beforeAll(async () => {
    server = await startRestServer(admin);
    client = open();
  });
  afterAll(() => server.stop());

  test("serves the whole life of a memory, also after the server has forgotten its scripts", async () => {
    const prefix = newPrefix();
    await live(client, prefix, "a");
    await admin.script("FLUSH");
    await live(client, prefix, "b");
    const memory = createChatMemory({ id: "m", store: redisStore({ client, prefix }) });
    await memory.add(user("Hello"));
    expect(await memory.messages()).toEqual([user("Hello")]);
  });

  test("sends an update once whose answer is lost, which a read then finds", async () => {
    const store = redisStore({ client, prefix: newPrefix() });
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("a", begin);
    const next = update(begin.version, 3, { append: [message(2)] });
    server.commands.length = 0;
    server.loseAnswer();
    await expect(store.updateMessages("a", next)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(server.commands).toEqual(["evalsha"]);
    expect((await store.getMessages("a")).version).toBe(next.version);
  });

  test("an error quotes nothing of what was sent, as the client's own does", async () => {
    const begin = update(null, 2, { append: [message(1, '"private words"')] });
    const error = await failure(() => redisStore({ client: open("s3cret") }).updateMessages("a", begin));
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: "WRONGPASS" } });
    expect(said(error)).not.toMatch(/s3cret|private words/);
  });
});
