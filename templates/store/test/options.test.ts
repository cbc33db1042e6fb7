import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MariaDbStoreOptions, mariaDbStore } from "../src/index.ts";
import { type Database, newDatabase, rowsOf, update } from "./support.ts";

let database: Database;
beforeAll(async () => {
  database = await newDatabase();
});
afterAll(() => database?.drop());

describe("what is refused", () => {
  const url = "mysql://app:s3cret@127.0.0.1:1/chat";
  const client = { getConnection() {} };
  test.each<[what: string, options: unknown, said: RegExp]>([
    ["nothing", undefined, /takes an object with client, url or config/],
    ["no connection", {}, /was given none of them/],
    ["a variable that is not set", { url: undefined }, /url is undefined/],
    ["two connections", { url, client }, /was given client and url/],
    ["an empty url", { url: "" }, /must be an address that begins with mysql:/],
    ["a url of another kind", { url: "postgres://chat" }, /must be an address that begins with mysql:/],
    ["a scheme alone", { url: "mysql://" }, /must be an address that begins with mysql:/],
    ["a url that cannot be read", { url: "mysql://app:s3cret@host:x/" }, /cannot be read/],
    [
      "a config whose url cannot be read",
      { config: { uri: "mysql://app:s3cret@host:x/" } },
      /cannot be read/,
    ],
    ["a client that is none", { client: {} }, /client must be a Pool of mysql2\/promise/],
    ["a prefix that is no text", { url, prefix: 1 }, /prefix must be a string/],
    ["a prefix with U+0000", { url, prefix: "a\0" }, /well-formed Unicode without U\+0000/],
    ["a prefix beyond U+FFFF", { url, prefix: "😀" }, /without characters beyond U\+FFFF/],
    ["a prefix that leaves no room", { url, prefix: "a".repeat(47) }, /46/],
    ["no time to live", { url, ttlMs: 0 }, /ttlMs must be a positive whole number/],
    ["an activity noted every 0 ms", { url, activityMs: 0 }, /activityMs must be a positive whole number/],
  ])("%s", (_what, options, said) => {
    const refused = expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(said) });
    expect(() => mariaDbStore(options as MariaDbStoreOptions)).toThrow(refused);
    expect(() => mariaDbStore(options as MariaDbStoreOptions)).not.toThrow("s3cret");
  });
});

test("options that are undefined are as if left out", async () => {
  const absent = {
    url: undefined,
    config: undefined,
    prefix: undefined,
    ttlMs: undefined,
    activityMs: undefined,
  };
  await mariaDbStore({ ...absent, client: database.pool }).migrate();
  expect(await rowsOf(database.pool, "select count(*) as n from turnkeep_memories")).toEqual([{ n: 0 }]);
});

test("stores with different prefixes, of any text, share a database and no data", async () => {
  const prefixes = ["", "quo`te", "a b;--", "ünï", "'", "a".repeat(46)];
  const stores = prefixes.map((prefix) => mariaDbStore({ client: database.pool, prefix }));
  for (const [index, store] of stores.entries()) {
    await store.migrate();
    await store.updateMessages("same", update(null, index + 2));
  }
  for (const [index, store] of stores.entries()) {
    expect((await store.getMessages("same")).nextSeq).toBe(index + 2);
  }
});
