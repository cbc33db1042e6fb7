import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { type SqliteStoreOptions, sqliteStore } from "../src/index.ts";
import { newDatabaseFile, update } from "./support.ts";

const file = newDatabaseFile();
const client = new DatabaseSync(":memory:");
afterAll(() => {
  client.close();
  file.remove();
});

describe("what is refused", () => {
  const { url } = file;
  test.each<[what: string, options: unknown, said: RegExp]>([
    ["nothing", undefined, /takes an object with client, url or config/],
    ["no connection", {}, /was given none of them/],
    ["two connections", { url, client }, /was given client and url/],
    ["an empty url", { url: "" }, /must be an address that begins with file:/],
    ["a url of another kind", { url: "https://chat.db" }, /must be an address that begins with file:/],
    ["a scheme alone", { url: "file:" }, /must be an address that begins with file:/],
    ["a url of a database in memory", { url: "file::memory:" }, /give it as client/],
    ["a url of a shared database in memory", { url: "file:a?mode=memory&cache=shared" }, /give it as client/],
    ["a path of a database in memory", { config: { path: ":memory:" } }, /give it as client/],
    ["a config without a path", { config: {} }, /config\.path must be the path of a file/],
    ["a client that is none", { client: {} }, /client must be a DatabaseSync/],
    ["a client without location", { client: { prepare() {}, exec() {} } }, /must have a location method/],
    ["a prefix that is no text", { url, prefix: 1 }, /prefix must be a string/],
    ["a prefix with U+0000", { url, prefix: "a\0" }, /well-formed Unicode without U\+0000/],
    ["SQLite's own prefix", { url, prefix: "SQLite_" }, /SQLite keeps for itself/],
    ["no time to live", { url, ttlMs: 0 }, /ttlMs must be a positive whole number/],
    ["an activity noted every 0 ms", { url, activityMs: 0 }, /activityMs must be a positive whole number/],
  ])("%s", (_what, options, said) => {
    expect(() => sqliteStore(options as SqliteStoreOptions)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(said) }),
    );
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
  const options = { ...absent, client };
  const store = sqliteStore(options);
  await store.migrate();
  expect(client.prepare("select count(*) as n from turnkeep_memories").get()).toEqual({ n: 0 });
});

test("stores with different prefixes, of any text, share a database and no data", async () => {
  const prefixes = ["", 'quo"te', "a b;--", "ünï", "'"];
  const stores = prefixes.map((prefix) => sqliteStore({ client, prefix }));
  for (const [index, store] of stores.entries()) {
    await store.migrate();
    await store.updateMessages("same", update(null, index + 2));
  }
  for (const [index, store] of stores.entries()) {
    expect((await store.getMessages("same")).nextSeq).toBe(index + 2);
  }
});

test("the capabilities say whether there is a file", () => {
  expect(sqliteStore({ client }).capabilities.durable).toBe(false);
  const onDisk = file.open();
  expect(sqliteStore({ client: onDisk }).capabilities.durable).toBe(true);
  onDisk.close();
  expect(sqliteStore({ url: file.url }).capabilities.durable).toBe(true);
});
