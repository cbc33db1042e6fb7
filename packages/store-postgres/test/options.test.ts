import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { type PostgresStoreOptions, postgresStore } from "../src/index.ts";

const url = "postgres://app:s3cret@127.0.0.1:1/chat";

/** What the factory throws. */
function refusal(options: unknown): unknown {
  try {
    postgresStore(options as PostgresStoreOptions);
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
    ["a client and a url", { client: new pg.Pool(), url }],
    ["a url and a config", { url, config: {} }],
    ["an empty url", { url: "" }],
    ["a url of another database", { url: "mysql://app:s3cret@127.0.0.1/chat" }],
    ["a url without a scheme", { url: "app:s3cret@127.0.0.1" }],
    ["a url that is an object", { url: new URL(url) }],
    ["a client without query", { client: { connect() {} } }],
    ["a config that is a text", { config: url }],
    ["an empty schema", { url, schema: "" }],
    ["a schema with U+0000", { url, schema: "a\0b" }],
    ["a schema with a lone surrogate", { url, schema: "a\ud800" }],
    ["a schema that is too long", { url, schema: "é".repeat(32) }],
    ["a prefix that is too long", { url, prefix: "x".repeat(50) }],
    ["a prefix that is a number", { url, prefix: 7 }],
    ["a ttl of 0", { url, ttlMs: 0 }],
    ["a ttl of half a millisecond", { url, ttlMs: 0.5 }],
  ])("refuses %s", (_, options) => {
    const error = refusal(options);
    expect(error).toMatchObject({ name: "TurnkeepError", code: "INVALID_OPTION" });
    expect(String(error)).not.toContain("s3cret");
  });

  test("does no I/O: a server that is not there is no error before the first call", async () => {
    const store = postgresStore({ url });
    await store.close();
    await store.close();
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
    await expect(store.migrate()).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("admits undefined where an option may be left out", () => {
    const rest = { schema: undefined, prefix: undefined, ttlMs: undefined };
    expect(postgresStore({ url, client: undefined, config: undefined, ...rest }).capabilities).toEqual({
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

test("a url that pg cannot read is INVALID_OPTION and shows no password", async () => {
  const store = postgresStore({ url: "postgres://app:s3cret@host:port/chat" });
  const error: unknown = await store.getMessages("a").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "INVALID_OPTION" });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("s3cret");
  await store.close();
});

test("types: one place, and clients of pg and PGlite as they are", () => {
  const accept = (_: PostgresStoreOptions): void => {};
  accept({ client: new pg.Pool() });
  accept({ client: new pg.Client() });
  accept({ client: null as unknown as pg.PoolClient });
  accept({ client: null as unknown as PGlite, ttlMs: 1 });
  accept({ config: { host: "localhost", max: 3 } satisfies pg.PoolConfig });
  accept({ config: null as unknown as pg.PoolConfig });
  // @ts-expect-error a client and a url
  accept({ client: new pg.Pool(), url });
  // @ts-expect-error a url and a config
  accept({ url, config: {} });
  // @ts-expect-error no place
  accept({ schema: "chat" });
  // @ts-expect-error no query
  accept({ client: {} });
  expect(PGlite).toBeTypeOf("function");
});
