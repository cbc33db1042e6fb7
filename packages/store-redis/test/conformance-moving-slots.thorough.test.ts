import { conformanceGroups } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { type RedisCluster, startRedisCluster } from "@turnkeep/servers";
import { Cluster } from "ioredis";
import { createCluster, type RedisClusterType } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { writeThrough } from "./failover.ts";
import { SlotMoves } from "./slot-moves.ts";
import { dying, newPrefix, rawRead, rawRemove, rawWrite, withClient } from "./support.ts";

let servers: RedisCluster;
let cluster: Cluster;
let nodeCluster: RedisClusterType;
const clients = {
  ioredis: (moves: SlotMoves): RedisClient => {
    const call = cluster.call.bind(cluster) as RedisClient["call"];
    // The store takes it for the `Cluster` that it is.
    return Object.assign(Object.create(cluster) as Cluster, { call: moves.watched(call) });
  },
  "node-redis": (moves: SlotMoves): RedisClient => ({
    call: moves.watched((command, args) =>
      nodeCluster.sendCommand(String(args[2]), false, [command, ...args.map(String)]),
    ),
  }),
};

beforeAll(async () => {
  servers = await startRedisCluster();
  // Slots move here, and no master is to be taken for gone while it moves a large one on a busy machine.
  for (const { url } of servers.nodes) {
    await withClient(url, (client) => client.config("SET", "cluster-node-timeout", "60000"));
  }
  const urls = servers.nodes.map(({ url }) => url);
  cluster = new Cluster(urls);
  cluster.on("error", () => {});
  nodeCluster = createCluster({ rootNodes: urls.map((url) => ({ url })) }) as unknown as RedisClusterType;
  await nodeCluster.connect();
});
afterAll(async () => {
  cluster.disconnect();
  nodeCluster.destroy();
  await servers.stop();
});

describe.each(Object.keys(clients) as (keyof typeof clients)[])("by %s, while slots move", (driver) => {
  const prefix = newPrefix();
  let moves: SlotMoves;
  let client: RedisClient;

  beforeAll(async () => {
    moves = await SlotMoves.of(servers);
    client = clients[driver](moves);
    moves.start();
  });
  afterAll(() => moves.end());

  // A key that moves takes its time to live along, and not when it ends: so each move prolongs its life a little.
  const groups = conformanceGroups.filter((group) => group !== "ttl");
  describeConformance(
    `Redis Cluster, ${driver}`,
    {
      create: (options) => redisStore({ client, prefix, ...options }),
      rawRead: (memoryId) => rawRead(cluster, prefix, memoryId),
      rawWrite: (memoryId, texts) => rawWrite(cluster, prefix, memoryId, texts),
      rawRemove: (memoryId, index) => rawRemove(cluster, prefix, memoryId, index),
      fault: (options) => redisStore({ client: dying(client, options), prefix }),
    },
    { groups },
  );

  test("writers of one memory lose nothing", async () => {
    const store = redisStore({ client, prefix });
    expect(await writeThrough(store, "moving", 100, Promise.resolve())).toBe(0);
  });

  test("slots have moved all the while, and calls have met them", async () => {
    expect(moves.moved.slots).toBeGreaterThan(100);
    expect(moves.moved.keys).toBeGreaterThan(100);
    for (const code of ["TRYAGAIN", "ASK", "MOVED"] as const) {
      expect(await moves.refusals(code), code).toBeGreaterThan(0);
    }
  });
});
