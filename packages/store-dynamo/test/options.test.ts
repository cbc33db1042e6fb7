import { DynamoDB, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBClient as OldestClient } from "dynamodb-oldest";
import { describe, expect, test } from "vitest";
import { type DynamoStoreOptions, dynamoStore } from "../src/index.ts";

const url = "http://app:s3cret@127.0.0.1:1";
const send = (): Promise<unknown> => Promise.resolve();

/** What the factory throws. */
function refusal(options: unknown): unknown {
  try {
    dynamoStore(options as DynamoStoreOptions);
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
    ["a client and a url", { client: { send }, url }],
    ["a url and a config", { url, config: {} }],
    ["an empty url", { url: "" }],
    ["a url of another database", { url: "redis://app:s3cret@127.0.0.1" }],
    ["a url that cannot be read", { url: "http://app:s3cret@host:port" }],
    ["a client without send", { client: { get() {} } }],
    ["a config that is a text", { config: url }],
    ["a table's name that is too short", { url, tableName: "ab" }],
    ["a table's name with a blank", { url, tableName: "my table" }],
    ["a table's name that is a number", { url, tableName: 7 }],
    ["an empty key", { url, partitionKey: "" }],
    ["a key that is longer than a name may be", { url, sortKey: "é".repeat(128) }],
    ["a key that is called like an attribute of ours", { url, sortKey: "version" }],
    ["an expiry that is called like an attribute of ours", { url, ttlAttribute: "endsAt" }],
    ["two keys of one name", { url, partitionKey: "id2", sortKey: "id2" }],
    ["an expiry that is a key", { url, ttlAttribute: "pk" }],
    ["a prefix with U+0000", { url, prefix: "a\0b" }],
    ["a prefix with a lone surrogate", { url, prefix: "a\ud800" }],
    ["a prefix that is too long", { url, prefix: "é".repeat(257) }],
    ["a prefix that is a number", { url, prefix: 7 }],
    ["a ttl of 0", { url, ttlMs: 0 }],
    ["a ttl of half a millisecond", { url, ttlMs: 0.5 }],
  ])("refuses %s", (_, options) => {
    const error = refusal(options);
    expect(error).toMatchObject({ name: "TurnkeepError", code: "INVALID_OPTION" });
    expect(String(error)).not.toContain("s3cret");
  });

  test("does no I/O: a server that is not there is no error before the first call", async () => {
    const store = dynamoStore({ url });
    await store.close();
    await store.close();
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("admits undefined where an option may be left out", () => {
    const names = { tableName: undefined, partitionKey: undefined, sortKey: undefined };
    const rest = { ...names, ttlAttribute: undefined, prefix: undefined, ttlMs: undefined };
    expect(dynamoStore({ url, client: undefined, config: undefined, ...rest }).capabilities).toEqual({
      durable: true,
      shared: true,
      history: true,
      list: true,
      ttl: true,
      delta: true,
      readSteps: 2,
      maxMessageBytes: 16 * 1024 * 1024,
    });
  });
});

test("types: one place, and clients of both ends of the range as they are", () => {
  const accept = (_: DynamoStoreOptions): void => {};
  accept({ client: new DynamoDBClient({}) });
  accept({ client: new DynamoDB({}) });
  accept({ client: new OldestClient({}) });
  accept({ config: { region: "eu-central-1" }, ttlMs: 1 });
  // @ts-expect-error a client and a url
  accept({ client: new DynamoDBClient({}), url });
  // @ts-expect-error a url and a config
  accept({ url, config: {} });
  // @ts-expect-error no place
  accept({ prefix: "chat:" });
  // @ts-expect-error no send
  accept({ client: {} });
  expect(DynamoDBClient).toBeTypeOf("function");
});
