import type { Client } from "@libsql/client";
import { callsOf, failure } from "@turnkeep/store-tests";
import Database from "libsql";
import { afterAll, describe, expect, test, vi } from "vitest";
import { type SqliteStoreOptions, sqliteStore } from "../src/index.ts";
import { queryOf } from "./harness.ts";
import { newFile, openLibsql } from "./support.ts";

const client = openLibsql(":memory:");
afterAll(() => client.close());

describe("the factory", () => {
  test.each<[what: string, options: unknown, said: RegExp]>([
    ["nothing", undefined, /takes an object with client or file/],
    ["no place", {}, /one of client and file, but was given none of them/],
    ["two places", { client, file: "chat.db" }, /was given client and file/],
    ["a file that is undefined", { file: undefined }, /file is undefined. Is its variable set/],
    ["an empty file", { file: "" }, /file/],
    ["a file that is an address", { file: "libsql://app:s3cret@host" }, /file/],
    ["a file with U+0000", { file: "a\0b" }, /file/],
    ["a file in memory", { file: ":memory:" }, /give it as client/],
    ["a shared one in memory", { file: "file:a?mode=memory&cache=shared" }, /give it as client/],
    ["a url", { url: "file:chat.db" }, /url/],
    ["a client that is none", { client: {} }, /client must be a database of node:sqlite/],
    ["a client that only prepares", { client: { prepare() {} } }, /client must be a database of node:sqlite/],
    ["a prefix that is a number", { client, prefix: 7 }, /prefix must be a string/],
    ["a prefix with U+0000", { client, prefix: "a\0b" }, /prefix/],
    ["SQLite's own prefix", { client, prefix: "SQLite_" }, /prefix/],
    ["Cloudflare's own prefix", { client, prefix: "_cf_" }, /prefix/],
    ["a ttl of 0", { client, ttlMs: 0 }, /ttlMs/],
    ["an activityMs of 0", { client, activityMs: 0 }, /activityMs/],
    ["an option that there is not", { client, ttl: 60 }, /ttl/],
  ])("refuses %s", async (_, options, said) => {
    const error = await failure(async () => sqliteStore(options as SqliteStoreOptions));
    expect(error).toMatchObject({ code: "INVALID_OPTION", message: expect.stringMatching(said) });
    expect(String(error)).not.toContain("s3cret");
  });

  test("refuses a file where Node has no node:sqlite, and says what to install", () => {
    const builtIns = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    expect(() => sqliteStore({ file: newFile() })).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringMatching(/Node 22\.13 or later, or install better-sqlite3 or libsql/),
      }),
    );
    builtIns.mockRestore();
  });

  test("admits undefined where an option may be left out", () => {
    const options = { client, file: undefined, prefix: undefined, ttlMs: undefined, activityMs: undefined };
    expect(sqliteStore(options).capabilities).toEqual({
      durable: false,
      shared: true,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    });
  });

  test("ends with close(), and leaves a client that it was given open", async () => {
    const store = sqliteStore({ client });
    await store.close();
    await store.close();
    for (const call of [...callsOf(store), () => store.migrate()]) {
      await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
    }
    expect(await queryOf(client)("select 1 as one")).toEqual([{ one: 1 }]);
  });
});

test("types: one place, and clients as they are", () => {
  const accept = (_: SqliteStoreOptions): void => {};
  accept({ client: new Database(":memory:") });
  accept({ client: null as unknown as Client });
  accept({ file: process.env.CHAT_FILE, ttlMs: 1 }); // refused at run time where it is not set
  // @ts-expect-error two places
  accept({ file: "chat.db", client });
  // @ts-expect-error no place
  accept({ prefix: "chat_" });
  // @ts-expect-error no client
  accept({ client: {} });
  // @ts-expect-error a misspelt option
  accept({ file: "chat.db", ttl: 1 });
});

test("stores with different prefixes, of any text, share a database and no data", async () => {
  const prefixes = ["", 'quo"te', "a b;--", "ünï", "'"];
  const stores = prefixes.map((prefix) => sqliteStore({ client, prefix }));
  const update = { expected: null, append: [], replace: [], move: [] };
  for (const [index, store] of stores.entries()) {
    await store.migrate();
    await store.updateMessages("same", { ...update, version: "v", nextSeq: index + 2 });
  }
  for (const [index, store] of stores.entries()) {
    expect((await store.getMessages("same")).nextSeq).toBe(index + 2);
    await store.deleteMessages("same");
  }
});
