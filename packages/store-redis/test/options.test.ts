import { Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { describe, expect, test } from "vitest";
import { type RedisStoreOptions, redisStore } from "../src/index.ts";

const url = "redis://app:s3cret@127.0.0.1:1/0";
const call = (): Promise<unknown> => Promise.resolve();

/** What the factory throws. */
function refusal(options: unknown): unknown {
  try {
    redisStore(options as RedisStoreOptions);
  } catch (error) {
    return error;
  }
  throw new Error("The options were accepted");
}

describe("the factory", () => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["no place", {}],
    ["a place that is undefined", { client: undefined, url: undefined, config: undefined }],
    ["a client and a url", { client: { call }, url }],
    ["a url and a config", { url, config: {} }],
    ["an empty url", { url: "" }],
    ["a url of another database", { url: "mysql://app:s3cret@127.0.0.1/0" }],
    ["a url that cannot be read", { url: "redis://app:s3cret@host:port" }],
    ["a url that is an object", { url: new URL(url) }],
    ["a client without call", { client: { get() {} } }],
    ["a config that is a text", { config: url }],
    ["a prefix with a brace", { url, prefix: "a{b" }],
    ["a prefix with U+0000", { url, prefix: "a\0b" }],
    ["a prefix with a lone surrogate", { url, prefix: "a\ud800" }],
    ["a prefix that is a number", { url, prefix: 7 }],
    ["a ttl of 0", { url, ttlMs: 0 }],
    ["a ttl of half a millisecond", { url, ttlMs: 0.5 }],
    ["replicas that are a number", { url, waitReplicas: 1 }],
    ["no replicas", { url, waitReplicas: { count: 0, timeoutMs: 100 } }],
    ["replicas without a time", { url, waitReplicas: { count: 1 } }],
    ["replicas and a time of 0, which is for ever", { url, waitReplicas: { count: 1, timeoutMs: 0 } }],
    [
      "replicas of a cluster",
      { client: { call, isCluster: true }, waitReplicas: { count: 1, timeoutMs: 9 } },
    ],
  ])("refuses %s", (_, options) => {
    const error = refusal(options);
    expect(error).toMatchObject({ name: "TurnkeepError", code: "INVALID_OPTION" });
    expect(String(error)).not.toContain("s3cret");
  });

  test("does no I/O: a server that is not there is no error before the first call", async () => {
    const store = redisStore({ url });
    await store.close();
    await store.close();
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("admits undefined where an option may be left out", () => {
    const rest = { prefix: undefined, ttlMs: undefined, waitReplicas: undefined };
    expect(redisStore({ url, client: undefined, config: undefined, ...rest }).capabilities).toEqual({
      durable: true,
      shared: true,
      history: true,
      list: true,
      ttl: true,
      delta: true,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    });
  });
});

test("types: one place, and clients of both majors of ioredis as they are", () => {
  const accept = (_: RedisStoreOptions): void => {};
  accept({ client: new Redis({ lazyConnect: true }) });
  accept({ client: new ioredis5.default({ lazyConnect: true }) });
  accept({ client: new Redis.Cluster([], { lazyConnect: true }) });
  accept({ config: { host: "localhost", db: 3 }, ttlMs: 1 });
  // @ts-expect-error a client and a url
  accept({ client: new Redis({ lazyConnect: true }), url });
  // @ts-expect-error a url and a config
  accept({ url, config: {} });
  // @ts-expect-error no place
  accept({ prefix: "chat:" });
  // @ts-expect-error no call
  accept({ client: {} });
  expect(Redis).toBeTypeOf("function");
});
