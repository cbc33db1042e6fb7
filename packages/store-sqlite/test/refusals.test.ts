import { describe, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";

/** What a call of a store fails with whose client fails with that. */
async function told(cause: Error): Promise<unknown> {
  const store = sqliteStore({ client: { batch: () => Promise.reject(cause) } });
  return store.getMessages("a").catch((error: unknown) => error);
}

const withMembers = (message: string, members: object): Error => Object.assign(new Error(message), members);

// As each driver has told it.
describe.each<[driver: string, of: (code: number, name: string, words: string) => Error]>([
  [
    "node:sqlite",
    (errcode, _, words) => withMembers(words, { code: "ERR_SQLITE_ERROR", errcode, errstr: words }),
  ],
  ["better-sqlite3 and libsql", (_, code, words) => withMembers(words, { code })],
  ["@libsql/client", (_, code, words) => withMembers(`${code}: ${words}`, { code })],
  ["D1", (_, code, words) => new Error(`D1_ERROR: ${words}: ${code}`)],
  ["a Durable Object", (_, code, words) => new Error(`${words}: ${code}`)],
])("by %s", (_driver, of) => {
  test.each<[code: number, name: string, words: string, told: string]>([
    [1, "SQLITE_ERROR", "no such table: turnkeep_memories", "STORE_NOT_READY"],
    [1, "SQLITE_ERROR", "no such column: h.expires_at", "STORE_NOT_READY"],
    [1, "SQLITE_ERROR", "table turnkeep_memories has no column named data", "STORE_NOT_READY"],
    [1, "SQLITE_ERROR", 'table "turnkeep_messages" already exists', "STORE_NOT_READY"],
    [18, "SQLITE_TOOBIG", "string or blob too big", "STORE_REFUSED"],
    [1, "SQLITE_ERROR", "cannot start a transaction within a transaction", "STORE_REFUSED"],
    [8, "SQLITE_READONLY", "attempt to write a readonly database", "STORE_REFUSED"],
    [1032, "SQLITE_READONLY_DBMOVED", "attempt to write a readonly database", "STORE_REFUSED"],
    [13, "SQLITE_FULL", "database or disk is full", "STORE_REFUSED"],
    [14, "SQLITE_CANTOPEN", "unable to open database file", "STORE_REFUSED"],
    [26, "SQLITE_NOTADB", "file is not a database", "STORE_REFUSED"],
    [11, "SQLITE_CORRUPT", "database disk image is malformed", "STORE_REFUSED"],
    [10, "SQLITE_IOERR", "disk I/O error", "STORE_UNAVAILABLE"],
    [6, "SQLITE_LOCKED", "database table is locked", "STORE_UNAVAILABLE"],
  ])("%i %s: %s", async (code, name, words, expected) => {
    const cause = of(code, name, words);
    expect(await told(cause)).toMatchObject({ code: expected, cause });
  });
});

test("what says nothing is of open outcome", async () => {
  expect(await told(new Error("D1_ERROR: Network connection lost."))).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("open"),
  });
});
