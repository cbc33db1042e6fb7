import { describeOptions } from "@turnkeep/store-tests";
import { MongoClient, type MongoClientOptions } from "mongodb";
import { MongoClient as MongoClient6 } from "mongodb6";
import { expect, test } from "vitest";
import { type MongoStoreOptions, mongoStore } from "../src/index.ts";
import { normalizeOptions } from "../src/options.ts";

const url = "mongodb://app:s3cret@127.0.0.1:1/";
const db = (): object => ({ collection: () => ({}) });

describeOptions({
  create: (options) => mongoStore(options as MongoStoreOptions),
  url,
  client: { db },
  config: { url },
  unreadable: ["mongodb://app:s3cret@host:port/", `${url}?nothing=known`, `${url}?socketTimeoutMS=soon`],
  refused: [
    ["a url whose database cannot be read", { url: `${url}%zz` }],
    ["a url whose password has a slash", { url: "mongodb://app:x/s3cret@127.0.0.1:1/chat" }],
    ["a config without a url", { config: {} }],
    ["a config with an empty url", { config: { url: "" } }],
    ["an empty database", { url, database: "" }],
    ["a database with a dot", { url, database: "a.b" }],
    ["a database with a blank", { url, database: "a b" }],
    ["a database with a slash", { url, database: "a/b" }],
    ["a database with a dollar", { url, database: "a$b" }],
    ["a database of 64 bytes", { url, database: "a".repeat(64) }],
    ["a database that is a number", { url, database: 7 }],
    ["a prefix with a dollar", { url, prefix: "a$" }],
    ["a prefix of the server's own", { url, prefix: "system.x" }],
    ["a prefix with a dot in front", { url, prefix: ".a" }],
    ["a prefix that holds the server's own", { url, prefix: "a.system." }],
    ["a prefix of 101 bytes", { url, prefix: "a".repeat(101) }],
  ],
  optional: ["database"],
  capabilities: { readSteps: 2, maxMessageBytes: 15 * 1024 * 1024 },
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

test("types: one place, and clients of both majors of mongodb as they are", () => {
  const accept = (_: MongoStoreOptions): void => {};
  accept({ client: new MongoClient(url) });
  accept({ client: new MongoClient6(url) });
  const config = { url, appName: "chat", readPreference: "secondary" };
  accept({ config, ttlMs: 1, database: "chat" });
  accept({ config: { url, appName: "chat" } });
  accept({ config: null as unknown as MongoClientOptions & { readonly url: string } });
  // @ts-expect-error a config without an address
  accept({ config: { appName: "chat" } });
  // @ts-expect-error a client and a url
  accept({ client: new MongoClient(url), url });
  // @ts-expect-error a url and a config
  accept({ url, config });
  // @ts-expect-error no place
  accept({ prefix: "chat_" });
  // @ts-expect-error no db
  accept({ client: {} });
  // @ts-expect-error nothing
  accept({});
  // @ts-expect-error a misspelt option
  accept({ url, prefx: "chat" });
  // @ts-expect-error an option of another kind
  accept({ url, ttlMs: "1h" });
  expect(MongoClient).toBeTypeOf("function");
});
