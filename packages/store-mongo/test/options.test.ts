import { MongoClient } from "mongodb";
import { MongoClient as MongoClient6 } from "mongodb6";
import { describe, expect, test } from "vitest";
import { type MongoStoreOptions, mongoStore } from "../src/index.ts";
import { normalizeOptions } from "../src/options.ts";

const url = "mongodb://app:s3cret@127.0.0.1:1/";
const db = (): object => ({ collection: () => ({}) });

/** What the factory throws. */
function refusal(options: unknown): unknown {
  try {
    mongoStore(options as MongoStoreOptions);
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
    ["a client and a url", { client: { db }, url }],
    ["a url and a config", { url, config: { url } }],
    ["an empty url", { url: "" }],
    ["a url of another database", { url: "mysql://app:s3cret@127.0.0.1/0" }],
    ["a url whose database cannot be read", { url: `${url}%zz` }],
    ["a url that is an object", { url: new URL(url) }],
    ["a client without db", { client: { get() {} } }],
    ["a config that is a text", { config: url }],
    ["a config without a url", { config: {} }],
    ["a config with an empty url", { config: { url: "" } }],
    ["an empty database", { url, database: "" }],
    ["a database with a dot", { url, database: "a.b" }],
    ["a database with a blank", { url, database: "a b" }],
    ["a database of 64 bytes", { url, database: "a".repeat(64) }],
    ["a database that is a number", { url, database: 7 }],
    ["a prefix with a dollar", { url, prefix: "a$" }],
    ["a prefix of the server's own", { url, prefix: "system.x" }],
    ["a prefix with U+0000", { url, prefix: "a\0b" }],
    ["a prefix with a lone surrogate", { url, prefix: "a\ud800" }],
    ["a prefix of 101 bytes", { url, prefix: "a".repeat(101) }],
    ["a prefix that is a number", { url, prefix: 7 }],
    ["a ttl of 0", { url, ttlMs: 0 }],
    ["a ttl of half a millisecond", { url, ttlMs: 0.5 }],
  ])("refuses %s", (_, options) => {
    const error = refusal(options);
    expect(error).toMatchObject({ name: "TurnkeepError", code: "INVALID_OPTION" });
    expect(String(error)).not.toContain("s3cret");
  });

  test.each([
    [url, "turnkeep"],
    ["mongodb://127.0.0.1", "turnkeep"],
    ["mongodb://a:1,b:2/chat?replicaSet=rs0", "chat"],
    ["mongodb+srv://u:p%40ss@host/a%C3%A9", "aé"],
    ["mongodb://127.0.0.1/?replicaSet=rs0", "turnkeep"],
  ])("takes the database that %s names", (address, database) => {
    expect(normalizeOptions({ url: address }).database).toBe(database);
    expect(normalizeOptions({ config: { url: address } }).database).toBe(database);
    expect(normalizeOptions({ url: address, database: "other" }).database).toBe("other");
  });

  test("does no I/O: a server that is not there is no error before the first call", async () => {
    const store = mongoStore({ url });
    await store.close();
    await store.close();
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
    await expect(store.migrate()).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("admits undefined where an option may be left out", () => {
    const rest = { database: undefined, prefix: undefined, ttlMs: undefined };
    expect(mongoStore({ url, client: undefined, config: undefined, ...rest }).capabilities).toEqual({
      durable: true,
      shared: true,
      history: true,
      list: true,
      ttl: true,
      delta: true,
      readSteps: 2,
      maxMessageBytes: 15 * 1024 * 1024,
    });
  });

  test("an address that the driver cannot read is INVALID_OPTION at the first call, and tells no password", async () => {
    for (const bad of ["mongodb://app:s3cret@host:port/", `${url}?nothing=known`]) {
      const store = mongoStore({ url: bad });
      const error: unknown = await store.getMessages("a").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "INVALID_OPTION" });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("s3cret");
      await store.close();
    }
  });
});

test("types: one place, and clients of both majors of mongodb as they are", () => {
  const accept = (_: MongoStoreOptions): void => {};
  accept({ client: new MongoClient(url) });
  accept({ client: new MongoClient6(url) });
  const config = { url, appName: "chat", readPreference: "secondary" };
  accept({ config, ttlMs: 1, database: "chat" });
  // @ts-expect-error a client and a url
  accept({ client: new MongoClient(url), url });
  // @ts-expect-error a url and a config
  accept({ url, config });
  // @ts-expect-error no place
  accept({ prefix: "chat_" });
  // @ts-expect-error no db
  accept({ client: {} });
  expect(MongoClient).toBeTypeOf("function");
});
