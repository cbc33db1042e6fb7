import { DynamoDB, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describeOptions } from "@turnkeep/store-tests";
import { DynamoDBClient as OldestClient } from "dynamodb-oldest";
import { expect, onTestFinished, test, vi } from "vitest";
import { configOf } from "../src/client.ts";
import { type DynamoStoreOptions, dynamoStore } from "../src/index.ts";

const url = "http://app:s3cret@127.0.0.1:1";

describeOptions({
  create: (options) => dynamoStore(options as DynamoStoreOptions),
  url,
  client: { send: () => Promise.resolve() },
  config: {},
  refused: [
    ["a url that cannot be read", { url: "http://app:s3cret@host:port" }],
    ["a password that is not percent-encoded", { url: "http://app:s3cret%@host" }],
    ["a table's name that is too short", { url, tableName: "ab" }],
    ["a table's name with a blank", { url, tableName: "my table" }],
    ["a table's name that is a number", { url, tableName: 7 }],
    ["an empty key", { url, partitionKey: "" }],
    ["a key that is longer than a name may be", { url, sortKey: "é".repeat(128) }],
    ["a key that is called like an attribute of ours", { url, sortKey: "version" }],
    ["an expiry that is called like an attribute of ours", { url, ttlAttribute: "endsAt" }],
    ["two keys of one name", { url, partitionKey: "id2", sortKey: "id2" }],
    ["an expiry that is a key", { url, ttlAttribute: "pk" }],
    ["a prefix of 514 bytes", { url, prefix: "é".repeat(257) }],
    ["a prefix that goes on as a memory's key", { url, prefix: "memory:" }],
    ["a prefix that goes on as an owner's key", { url, prefix: "app/owner:x" }],
    ["a prefix that goes on as a key by activity", { url, prefix: "newest:" }],
  ],
  foreignPlaces: ["0/chat-1", "schat-1", "s8/chat-1", "sx0/chat-1", "s0/", "s17"],
  optional: ["tableName", "partitionKey", "sortKey", "ttlAttribute"],
  capabilities: { readSteps: 2, maxMessageBytes: 16 * 1024 * 1024 },
});

test("a url says the endpoint, the region of one of AWS, and credentials", () => {
  vi.stubEnv("AWS_REGION", "sa-east-1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const credentials = { accessKeyId: "app", secretAccessKey: "s3/cret" };
  for (const [host, region] of [
    ["dynamodb.eu-central-1.amazonaws.com", "eu-central-1"],
    ["dynamodb-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
    ["dynamodb.cn-north-1.amazonaws.com.cn", "cn-north-1"],
    ["123456789012.ddb.eu-west-1.amazonaws.com", "eu-west-1"],
    ["dynamodb.us-west-2.api.aws", "us-west-2"],
    ["vpce-0a1b2c-3d4e.dynamodb.ap-south-1.vpce.amazonaws.com", "ap-south-1"],
  ]) {
    const endpoint = `https://${host}/`;
    expect(configOf(`https://${host}`)).toEqual({ endpoint, region });
    expect(configOf(`https://app:s3%2Fcret@${host}`)).toEqual({ endpoint, region, credentials });
  }
  const endpoint = "http://localhost:8000/";
  expect(configOf("http://localhost:8000")).toEqual({ endpoint });
  const local = "http://app:s3%2Fcret@localhost:8000";
  expect(configOf(local)).toEqual({ endpoint, region: "sa-east-1", credentials });
  vi.stubEnv("AWS_REGION", undefined);
  expect(configOf(local)).toEqual({ endpoint, region: "us-east-1", credentials });
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
  // @ts-expect-error nothing
  accept({});
  // @ts-expect-error a misspelt option
  accept({ url, prefx: "chat" });
  // @ts-expect-error an option of another kind
  accept({ url, ttlMs: "1h" });
  expect(DynamoDBClient).toBeTypeOf("function");
});
