import { readdirSync } from "node:fs";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RedisEngine, ServerUnavailable, startRedisCluster, startRedisSentinel } from "../src/index.ts";
import { isAlive } from "../src/process.ts";
import { recordsFolder } from "../src/records.ts";
import { until, withRedis } from "../src/redis-process.ts";
import { neutralEnvironment, oddRecords, ownRecords, recordedServers, testFolder } from "./support.ts";

/** The stores' tests start groups of the first alone. */
const engines: readonly RedisEngine[] = process.env.TURNKEEP_THOROUGH
  ? ["redis", "redis-7.0", "valkey"]
  : ["redis"];

function quiet(engine: RedisEngine) {
  return { engine, env: neutralEnvironment(), log: () => {} };
}

describe.each(engines)("a cluster of %s", (engine) => {
  it("has three masters with a replica each, and goes on when one is killed", async () => {
    const cluster = await startRedisCluster(quiet(engine));
    onTestFinished(() => cluster.stop());
    const client = new Redis.Cluster(cluster.nodes.map(({ url }) => url));
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
    for (const key of keys) await client.set(key, key);
    expect(client.nodes("master")).toHaveLength(3);
    expect(client.nodes("slave")).toHaveLength(3);

    const killed = await cluster.killMaster("key 1");
    await expect(withRedis(killed.url, async () => {})).rejects.toThrow("ECONNREFUSED");
    await until("no replica took over", async () => (await client.set("key 1", "again")) === "OK");
    expect(await client.get("key 1")).toBe("again");

    await killed.start();
    await until("the killed master did not come back as a replica", async () =>
      withRedis(killed.url, async (node) =>
        /role:slave[\s\S]*master_link_status:up/.test(await node.info("replication")),
      ),
    );
  });
});

describe.each(engines)("sentinels of %s", (engine) => {
  it("put a replica in the place of a master that is killed", async () => {
    const group = await startRedisSentinel(quiet(engine));
    onTestFinished(() => group.stop());
    expect(group.nodes).toHaveLength(3);
    expect(group.sentinels).toHaveLength(3);
    const { sentinels, name } = group;
    const client = new Redis({ sentinels: [...sentinels], name, maxRetriesPerRequest: null });
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    await client.set("kept", "yes");
    expect(await client.wait(2, 10_000)).toBe(2);

    const killed = await group.killMaster();
    expect(killed).toBe(group.nodes[0]);
    expect(await client.get("kept")).toBe("yes");
    await killed.start();
    await withRedis(killed.url, (node) => node.ping());
  });
});

it("a group leaves no process, no data and no record when it is stopped, killed servers included", async () => {
  ownRecords();
  const group = await startRedisSentinel({ ...quiet("redis"), replicas: 1 });
  const processes = recordedServers();
  expect(processes).toHaveLength(5);
  await group.killMaster();
  expect(processes.filter(isAlive)).toHaveLength(4);
  await group.stop();
  await group.stop();
  expect(processes.filter(isAlive)).toEqual([]);
  expect(readdirSync(recordsFolder())).toEqual([]);
});

it("a group that cannot be started says what was tried", async () => {
  const env = { PATH: "/nowhere", TURNKEEP_CACHE: testFolder() };
  const failed = startRedisCluster({ env, log: () => {} });
  await expect(failed).rejects.toBeInstanceOf(ServerUnavailable);
  await expect(failed).rejects.toThrow(
    /tried:\n {2}- machine: no usable redis-server on PATH\n {2}- cache: python3 was not found\n/,
  );
});

it("sentinels start in a folder with a blank in its name", async () => {
  oddRecords();
  const sentinel = await startRedisSentinel({ ...quiet("redis"), replicas: 1 });
  onTestFinished(() => sentinel.stop());
  expect(sentinel.sentinels).toHaveLength(3);
});
