import { PGlite } from "@electric-sql/pglite";
import { describeOptions } from "@turnkeep/store-tests";
import pg from "pg";
import { expect, test } from "vitest";
import { type PostgresStoreOptions, postgresStore } from "../src/index.ts";

const url = "postgres://app:s3cret@127.0.0.1:1/chat";

describeOptions({
  create: (options) => postgresStore(options as PostgresStoreOptions),
  url,
  client: new pg.Pool(),
  config: {},
  unreadable: ["postgres://app:s3cret@host:port/chat", `${url}?port=high`],
  refused: [
    ["a folder and a url", { folder: "./data", url }],
    ["an empty folder", { folder: "" }],
    ["a folder that is undefined", { folder: undefined }],
    ["a folder that is an address", { folder: url }],
    ["a folder with U+0000", { folder: "a\0b" }],
    ["an empty schema", { url, schema: "" }],
    ["a schema with U+0000", { url, schema: "a\0b" }],
    ["a schema with a lone surrogate", { url, schema: "a\ud800" }],
    ["a schema that is too long", { url, schema: "é".repeat(32) }],
    ["a prefix that is too long", { url, prefix: "x".repeat(50) }],
  ],
  foreignPlaces: ["chat-1", "0", "-1", "1.5", "1e9", "9999999999999999999"],
  optional: ["schema", "folder"],
  capabilities: { readSteps: 1, maxMessageBytes: 16 * 1024 * 1024 },
});

test("types: one place, and clients of pg and PGlite as they are", () => {
  const accept = (_: PostgresStoreOptions): void => {};
  accept({ client: new pg.Pool() });
  accept({ client: new pg.Client() });
  accept({ client: null as unknown as pg.PoolClient });
  accept({ client: null as unknown as PGlite, ttlMs: 1 });
  accept({ config: { host: "localhost", max: 3 } satisfies pg.PoolConfig });
  accept({ config: null as unknown as pg.PoolConfig });
  accept({ url: process.env.DATABASE_URL }); // refused at run time where it is not set
  accept({ folder: "./data", url: undefined, client: undefined, config: undefined, ttlMs: undefined });
  accept({ folder: process.env.DATA_FOLDER }); // refused at run time where it is not set
  accept({ url, folder: undefined });
  // @ts-expect-error a folder and a url
  accept({ folder: "./data", url });
  // @ts-expect-error a folder and a client
  accept({ folder: "./data", client: new pg.Pool() });
  // @ts-expect-error a folder and a config
  accept({ folder: "./data", config: {} });
  // @ts-expect-error a client and a url
  accept({ client: new pg.Pool(), url });
  // @ts-expect-error a url and a config
  accept({ url, config: {} });
  // @ts-expect-error no place
  accept({ schema: "chat" });
  // @ts-expect-error no query
  accept({ client: {} });
  // @ts-expect-error nothing
  accept({});
  // @ts-expect-error a misspelt option
  accept({ url, prefx: "chat" });
  // @ts-expect-error an option of another kind
  accept({ url, ttlMs: "1h" });
  expect(PGlite).toBeTypeOf("function");
});

test.each([undefined, "", "memory://", "memory://chat"])(
  "a PGlite whose folder is %j is not durable",
  (dataDir) => {
    const query = (): Promise<never> => Promise.reject(new Error("not asked"));
    const client = { query, dataDir, waitReady: Promise.resolve() };
    expect(postgresStore({ client }).capabilities.durable).toBe(false);
  },
);

test("a client of pg is durable, as the server is", () => {
  expect(postgresStore({ client: new pg.Pool() }).capabilities.durable).toBe(true);
  expect(postgresStore({ client: new pg.Client() }).capabilities.durable).toBe(true);
});

test("a schema and a prefix may be as long as Postgres leaves them whole", () => {
  const [schema, prefix] = ["x".repeat(63), "x".repeat(63 - "memories_owner_idx".length)];
  expect(() => postgresStore({ url, schema, prefix })).not.toThrow();
});
