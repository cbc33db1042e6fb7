import { describeOptions } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { createClient as createClient4 } from "redis4";
import { expect, test } from "vitest";
import { type RedisStoreOptions, redisStore } from "../src/index.ts";

const url = "redis://app:s3cret@127.0.0.1:1/0";
const call = (): Promise<unknown> => Promise.resolve();

describeOptions({
  create: (options) => redisStore(options as RedisStoreOptions),
  url,
  client: { call },
  config: {},
  refused: [
    ["a url that cannot be read", { url: "redis://app:s3cret@host:port" }],
    ["a password that is not percent-encoded", { url: "redis://app:s3cret%@host" }],
    ["a url whose database is no number", { url: "redis://app:s3cret@127.0.0.1:1/chat" }],
    ["a url with a parameter db that is no number", { url: "redis://app:s3cret@127.0.0.1:1?db=chat" }],
    ["a prefix with a brace", { url, prefix: "a{b" }],
    ["a prefix with a closing brace", { url, prefix: "a}b" }],
    ["replicas that are a number", { url, waitReplicas: 1 }],
    ["replicas that are null", { url, waitReplicas: null }],
    ["no replicas", { url, waitReplicas: { count: 0, timeoutMs: 100 } }],
    ["replicas without a time", { url, waitReplicas: { count: 1 } }],
    ["a misspelt member of them", { url, waitReplicas: { count: 1, timeoutMs: 9, timeOutMs: 9 } }],
    ["replicas and a time of 0, which is for ever", { url, waitReplicas: { count: 1, timeoutMs: 0 } }],
    ["a cluster of node-redis", { client: createCluster({ rootNodes: [{ url: "redis://127.0.0.1:1" }] }) }],
    [
      "a sentinel of node-redis",
      { client: createSentinel({ name: "m", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] }) },
    ],
    [
      "replicas of a cluster",
      { client: { call, isCluster: true }, waitReplicas: { count: 1, timeoutMs: 9 } },
    ],
  ],
  foreignPlaces: ["chat-1", "0", "-1", "1.5", "1e9", "99999999999999999"],
  optional: ["waitReplicas"],
  capabilities: { readSteps: 1, maxMessageBytes: 16 * 1024 * 1024 },
});

test.each(["rediss://app:s3cret@127.0.0.1:1", "redis://127.0.0.1:1/", "redis://127.0.0.1:1/3/"])(
  "takes the address %s",
  (address) => {
    expect(() => redisStore({ url: address })).not.toThrow();
  },
);

test("takes clients of node-redis, which have no call", () => {
  expect(() => redisStore({ client: createClient() })).not.toThrow();
  expect(() => redisStore({ client: createClientPool() })).not.toThrow();
  expect(() => redisStore({ client: createClient4() })).not.toThrow();
});

test("types: one place, and clients of ioredis and node-redis as they are", () => {
  const accept = (_: RedisStoreOptions): void => {};
  accept({ client: new Redis({ lazyConnect: true }) });
  accept({ client: new ioredis5.default({ lazyConnect: true }) });
  accept({ client: new Redis.Cluster([], { lazyConnect: true }) });
  accept({ client: createClient() });
  accept({ client: createClientPool() });
  accept({ client: createClient4() });
  accept({ config: { host: "localhost", db: 3 }, ttlMs: 1 });
  // @ts-expect-error a client and a url
  accept({ client: new Redis({ lazyConnect: true }), url });
  // @ts-expect-error a url and a config
  accept({ url, config: {} });
  // @ts-expect-error no place
  accept({ prefix: "chat:" });
  // @ts-expect-error no call
  accept({ client: {} });
  // @ts-expect-error nothing
  accept({});
  // @ts-expect-error a misspelt option
  accept({ url, prefx: "chat" });
  // @ts-expect-error an option of another kind
  accept({ url, ttlMs: "1h" });
  // @ts-expect-error a number of replicas without a time
  accept({ url, waitReplicas: { count: 1 } });
  // @ts-expect-error a misspelt time
  accept({ url, waitReplicas: { count: 1, timeoutMs: 9, timeOutMs: 9 } });
  expect(Redis).toBeTypeOf("function");
});
