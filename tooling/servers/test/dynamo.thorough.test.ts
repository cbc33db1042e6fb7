import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { reachable } from "../src/cache.ts";
import { type DynamoServer, startDynamo } from "../src/index.ts";
import { describeEveryServer } from "./every-server.ts";
import { neutralEnvironment, ownRecords } from "./support.ts";

const silent = (): void => {};

/** The plain protocol; any credentials open a DynamoDB Local. */
async function send(url: string, operation: string, body: object): Promise<unknown> {
  const { host } = new URL(url);
  const response = await fetch(`http://${host}/`, {
    method: "POST",
    headers: {
      authorization:
        "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function createTable(url: string): Promise<string> {
  const TableName = `servers-${Math.random()}`;
  await send(url, "CreateTable", {
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  });
  return TableName;
}

async function expectToWork({ url }: DynamoServer): Promise<void> {
  const table = await createTable(url);
  expect(await send(url, "ListTables", {})).toEqual({ TableNames: expect.arrayContaining([table]) });
  await send(url, "DeleteTable", { TableName: table });
}

describeEveryServer({
  start: startDynamo,
  startOwn: (options) => startDynamo({ ...options, sources: ["cache"] }),
  expectToWork,
  variable: "TURNKEEP_DYNAMO_URL",
  running: () => inject("dynamoUrl"),
  deaf: "http://me:secret@127.0.0.1:1",
});

describe("sources", () => {
  it("runs the server of the npm package, which serves nobody on another address", async () => {
    const lines: string[] = [];
    const server = await startDynamo({
      sources: ["cache"],
      env: neutralEnvironment(),
      log: (line) => lines.push(line),
    });
    onTestFinished(() => server.stop());
    expect(server).toMatchObject({ source: "cache", version: "3.3.0" });
    expect(lines).toEqual([
      expect.stringMatching(/^servers: DynamoDB Local 3\.3\.0 at 127\.0\.0\.1:\d+ \(cache: /),
    ]);
    await expectToWork(server);
    const { port } = new URL(server.url);
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    for (const { address } of others) {
      await expect(send(`http://${address}:${port}`, "ListTables", {})).rejects.toThrow("fetch failed");
    }
    await expectToWork(server);
  });

  it("leaves nothing where temporary files go: each start unpacks a library", async () => {
    const files = mkdtempSync(join(tmpdir(), "turnkeep-servers-"));
    onTestFinished(() => rmSync(files, { recursive: true }));
    chmodSync(files, 0o777);
    const env = { ...neutralEnvironment(), JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir=${files}` };
    const server = await startDynamo({ sources: ["cache"], env, log: silent });
    await expectToWork(server);
    await server.stop();
    expect(readdirSync(files)).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    "is copied into the cache where servers could not reach it",
    async () => {
      const temporary = ownRecords();
      const repository = join(temporary, "closed");
      mkdirSync(join(repository, "lib"), { recursive: true, mode: 0o700 });
      writeFileSync(join(repository, "lib", "server.jar"), "");
      const folder = await reachable(join(repository, "lib"), { TURNKEEP_CACHE: join(repository, "cache") });
      expect(folder).toBe(join(temporary, "turnkeep-cache-0", "lib"));
      expect(readdirSync(folder)).toEqual(["server.jar"]);
    },
  );

  it("lists everything that was tried and why it failed", async () => {
    const env = { PATH: "/nowhere" };
    await expect(startDynamo({ sources: ["env", "cache"], env, log: silent })).rejects.toThrow(
      [
        "no DynamoDB Local could be started; tried:",
        "  - env: TURNKEEP_DYNAMO_URL is not set",
        "  - cache: java was not found",
        "Start Docker, install Java 17, or set TURNKEEP_DYNAMO_URL to a server.",
      ].join("\n"),
    );
  });
});

describe("a restart", () => {
  it.each([true, false])("keeps what was acknowledged if it is durable: %s", async (durable) => {
    const server = await startDynamo({
      durable,
      sources: ["cache"],
      env: neutralEnvironment(),
      log: silent,
    });
    onTestFinished(() => server.stop());
    const table = await createTable(server.url);
    await server.restart();
    expect(await send(server.url, "ListTables", {})).toEqual({ TableNames: durable ? [table] : [] });
  });
});
