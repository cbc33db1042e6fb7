import { cases } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { type RedisCluster, startRedisCluster } from "@turnkeep/servers";
import {
  message,
  messages,
  type NetworkProxy,
  partOfTheKit,
  serverGroups,
  startProxy,
  update,
  withoutTheLongest,
} from "@turnkeep/store-tests";
import { Cluster, type Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { Cluster as Cluster58 } from "ioredis58";
import { Cluster as Cluster511 } from "ioredis511";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { writeThrough } from "./failover.ts";
import { SlotMoves } from "./slot-moves.ts";
import { dying, newPrefix, rawRead, rawRemove, rawWrite, recording, withClient } from "./support.ts";

describe("a cluster of three masters with a replica each", () => {
  const prefix = newPrefix();
  let servers: RedisCluster;
  let cluster: Cluster;

  beforeAll(async () => {
    servers = await startRedisCluster();
    cluster = new Cluster(servers.nodes.map(({ url }) => url));
    cluster.on("error", () => {});
  });
  afterAll(async () => {
    cluster.disconnect();
    await servers.stop();
  });

  test.each(["{a}", "}{", "a{b}c{d}", "{}", "{", "*", "memory:{x}:head", "é🙂"])(
    "all keys of %j lie in one slot",
    async (memoryId) => {
      const client = recording(cluster);
      const store = redisStore({ client, prefix });
      const begin = update(null, 4, { owner: memoryId, append: messages(1, 3) });
      await store.updateMessages(memoryId, begin);
      const move = [
        { seq: 1, to: "evicted" as const },
        { seq: 2, to: "superseded" as const },
      ];
      await store.updateMessages(memoryId, update(begin.version, 4, { move }));
      expect((await store.getMessages(memoryId)).messages).toEqual([message(3)]);
      expect((await store.getHistory(memoryId, {})).messages).toHaveLength(3);
      const ofMemory = client.commands
        .flatMap(({ args }) => args.slice(2, 2 + Number(args[1])))
        .filter((key) => String(key).startsWith(`${prefix}memory:`));
      const slots = await Promise.all(ofMemory.map((key) => cluster.cluster("KEYSLOT", String(key))));
      expect(new Set(slots).size).toBe(1);
      expect((await store.listMemories({ owner: memoryId })).memories).toHaveLength(1);
      await store.deleteMessages(memoryId);
    },
  );

  const opens = {
    "5.0": (nodes: string[], options: object) => new ioredis5.default.Cluster(nodes, options),
    "5.8": (nodes: string[], options: object) => new Cluster58(nodes, options),
    "the newest of 5": (nodes: string[], options: object) => new Cluster511(nodes, options),
    "the newest": (nodes: string[], options: object) => new Cluster(nodes, options),
  };

  async function onEveryNode<T>(ask: (client: Redis) => Promise<T>): Promise<T[]> {
    return Promise.all(servers.nodes.map(({ url }) => withClient(url, ask)));
  }

  /** How often a command was sent to a server that has not its keys. */
  async function redirections(): Promise<number> {
    const counts = await onEveryNode(async (client) =>
      Number(/errorstat_MOVED:count=(\d+)/.exec(await client.info("errorstats"))?.[1] ?? 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  test.each(
    (Object.keys(opens) as (keyof typeof opens)[]).flatMap((version) => [
      [version, undefined] as const,
      [version, "acme:"] as const,
    ]),
  )(
    "ioredis %s with keyPrefix %s sends every call to the server that has its keys",
    async (version, keyPrefix) => {
      const own = newPrefix();
      const client = opens[version](
        servers.nodes.map(({ url }) => url),
        keyPrefix === undefined ? {} : { keyPrefix },
      );
      onTestFinished(() => client.disconnect());
      const store = redisStore({ client, prefix: own });
      const before = await redirections();
      for (let n = 1; n <= 12; n++) {
        const begin = update(null, 2, { owner: "o", append: [message(1)] });
        await store.updateMessages(`m${n}`, begin);
        await store.updateMessages(`m${n}`, update(begin.version, 3, { append: [message(2)] }));
        expect((await store.getMessages(`m${n}`)).messages).toEqual(messages(1, 2));
        expect((await store.getHistory(`m${n}`, {})).messages).toHaveLength(2);
      }
      expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(12);
      await store.deleteMessages("m12");
      expect(await redirections()).toBe(before);
      const keys = (await onEveryNode((node) => node.keys(`*${own}*`))).flat();
      const name = `${keyPrefix ?? ""}${own}`;
      expect(keys.filter((key) => !key.startsWith(name))).toEqual([]);
      expect(new Set(keys.filter((key) => key.endsWith(":head"))).size).toBe(11);
    },
  );

  /** The place of the server that has this key. */
  async function masterOf(key: string): Promise<number> {
    const slot = await cluster.cluster("KEYSLOT", key);
    const ranges = await cluster.cluster("SLOTS");
    const range = ranges.find(([from, to]) => from <= slot && slot <= to);
    return servers.nodes.findIndex(({ port }) => port === range?.[2]?.[1]);
  }

  /** A client that reaches every server by way of a proxy. */
  async function throughProxies(options: object = {}): Promise<{ client: Cluster; proxies: NetworkProxy[] }> {
    const proxies = await Promise.all(servers.nodes.map(({ url }) => startProxy(url)));
    const hosts = proxies.map(({ port }) => ({ host: "127.0.0.1", port }));
    const natMap = Object.fromEntries(
      servers.nodes.map(({ port }, index) => [`127.0.0.1:${port}`, hosts[index] ?? { host: "", port: 0 }]),
    );
    const client = new Cluster(hosts, { natMap, ...options });
    client.on("error", () => {});
    onTestFinished(async () => {
      client.disconnect();
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    });
    return { client, proxies };
  }

  test("connections on which nothing comes back any more are given up, all of them", async () => {
    const { client, proxies } = await throughProxies();
    const store = redisStore({ client, prefix: newPrefix() });
    const ids = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const id of ids) await store.updateMessages(id, update(null, 2, { append: [message(1)] }));
    for (const proxy of proxies) proxy.forget();
    const silent = new AbortController();
    const reads = ids.map((id) => store.getMessages(id, silent));
    silent.abort();
    await Promise.allSettled(reads);
    // Behind other addresses the driver may lose its way until it has asked for the servers anew.
    const isThere = (id: string): Promise<boolean> =>
      store.getMessages(id, { signal: AbortSignal.timeout(30_000) }).then(
        ({ messages }) => messages.length === 1,
        () => false,
      );
    for (const id of ids) while (!(await isThere(id)));
  });

  test.each([
    ["sends again", {}],
    ["sends nothing again", { retryDelayOnFailover: 0 }],
  ])("a write whose answer was lost, on a cluster that %s, brings nothing back", async (what, options) => {
    const { client, proxies } = await throughProxies(options);
    const store = redisStore({ client, prefix });
    const other = redisStore({ client: cluster, prefix });
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages(what, begin);
    const warm = update(begin.version, 3, { append: [message(2)] });
    await store.updateMessages(what, warm);
    const add = update(warm.version, 4, { append: [message(3, '"turnkeep-lost"')] });
    const meanwhile = async (): Promise<void> => {
      // What came back first may have been for something else.
      while ((await other.getMessages(what)).version !== add.version);
      await other.updateMessages(what, update(add.version, 4, { move: [{ seq: 3, to: "removed" }] }));
    };
    const master = await masterOf(`${prefix}memory:{${Buffer.from(what).toString("base64url")}}:head`);
    void proxies[master]?.strike("turnkeep-lost", "drop-reply", meanwhile);
    const outcome = store.updateMessages(what, add).catch((error: { code: string }) => error.code);
    expect(await outcome).toBe("STORE_UNAVAILABLE");
    expect((await other.getMessages(what)).messages).toEqual(messages(1, 2));
  });

  test("node-redis serves a cluster by the line of the README", async () => {
    const nodeCluster = createCluster({ rootNodes: servers.nodes.map(({ url }) => ({ url })) });
    await nodeCluster.connect();
    onTestFinished(() => nodeCluster.destroy());
    const client: RedisClient = {
      call: (command, args) =>
        nodeCluster.sendCommand(String(args[2]), false, [command, ...args.map(String)]),
    };
    const before = await redirections();
    const store = redisStore({ client, prefix: newPrefix() });
    for (let n = 1; n <= 12; n++) {
      await store.updateMessages(`m${n}`, update(null, 2, { owner: "o", append: [message(1)] }));
      expect((await store.getMessages(`m${n}`)).messages).toEqual([message(1)]);
    }
    expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(12);
    expect(await redirections()).toBe(before);
  });

  // The server is the one that the whole kit ran on: what may differ is where keys lie, and what spans several nodes.
  const groups = partOfTheKit([...serverGroups, "ids", "list", "ttl"]);
  describeConformance(
    "Redis Cluster",
    {
      create: (options) => redisStore({ client: cluster, prefix, ...options }),
      rawRead: (memoryId) => rawRead(cluster, prefix, memoryId),
      rawWrite: (memoryId, texts) => rawWrite(cluster, prefix, memoryId, texts),
      rawRemove: (memoryId, index) => rawRemove(cluster, prefix, memoryId, index),
      fault: (options) => redisStore({ client: dying(cluster, options), prefix }),
      given: () => ({
        store: redisStore({ client: cluster, prefix }),
        isOpen: () => cluster.status === "ready",
      }),
    },
    { cases: withoutTheLongest(cases), groups },
  );

  test("a call whose slot is half moved is answered once it has arrived, by either driver", async () => {
    const own = newPrefix();
    const nodeCluster = createCluster({ rootNodes: servers.nodes.map(({ url }) => ({ url })) });
    await nodeCluster.connect();
    onTestFinished(() => nodeCluster.destroy());
    const viaNodeRedis: RedisClient = {
      call: (command, args) =>
        nodeCluster.sendCommand(String(args[2]), false, [command, ...args.map(String)]),
    };
    const moves = await SlotMoves.of(servers);
    onTestFinished(() => moves.end());
    for (const client of [cluster, viaNodeRedis]) {
      const store = redisStore({ client, prefix: own });
      let last = update(null, 4, { append: messages(1, 3) });
      await store.updateMessages("m", last);
      const evict = update(last.version, 4, { move: [{ seq: 1, to: "evicted" }] });
      await store.updateMessages("m", evict);
      // An eviction concerns all keys of the memory, one of which is on the other server then.
      const move = [{ seq: 2, to: "evicted" as const }];
      last = update(evict.version, 5, { append: [message(4)], move });
      let written: Promise<void> | undefined;
      await moves.move(`${own}memory:{${Buffer.from("m").toString("base64url")}}:head`, async (moved) => {
        if (moved !== 1) return;
        const before = await moves.refusals("TRYAGAIN");
        written = store.updateMessages("m", last);
        while ((await moves.refusals("TRYAGAIN")) === before);
      });
      await written;
      expect((await store.getMessages("m")).messages).toEqual(messages(3, 4));
      expect((await store.getHistory("m", {})).messages).toHaveLength(4);
      await store.deleteMessages("m");
    }
    expect(moves.moved.keys).toBeGreaterThan(1);
  });

  test.each([
    ["what had left comes back, and another leaves", { 1: "live", 2: "evicted" }],
    ["what had left goes, and another leaves", { 1: "removed", 2: "evicted" }],
  ] as const)("an update whose slot is about to move is whole: %s", async (what, states) => {
    const store = redisStore({ client: cluster, prefix: newPrefix() });
    const own = newPrefix();
    const moved = redisStore({ client: cluster, prefix: own });
    for (const one of [store, moved]) {
      const begin = update(null, 4, { append: messages(1, 3) });
      await one.updateMessages(what, begin);
      const evict = update(begin.version, 4, { move: [{ seq: 1, to: "evicted" }] });
      await one.updateMessages(what, evict);
      const move = Object.entries(states).map(([seq, to]) => ({ seq: Number(seq), to }));
      const change = update(evict.version, 4, { move });
      if (one === store) await one.updateMessages(what, change);
      else {
        const moves = await SlotMoves.of(servers);
        onTestFinished(() => moves.end());
        const key = `${own}memory:{${Buffer.from(what).toString("base64url")}}:head`;
        // Its keys are all there still, so it is not refused.
        await moves.move(key, async (keys) => (keys === 0 ? one.updateMessages(what, change) : undefined));
      }
    }
    expect((await moved.getHistory(what, {})).messages).toEqual((await store.getHistory(what, {})).messages);
    expect((await moved.getMessages(what)).messages).toEqual((await store.getMessages(what)).messages);
  });

  test("a master is killed in the middle of writes: no update is ever half there, and writing goes on", async () => {
    const store = redisStore({ client: cluster, prefix });
    const memoryIds = Array.from({ length: 6 }, (_, index) => `failover ${index}`);
    // The listing lies on the master that is killed.
    const takenOver = async (): Promise<void> => {
      while (!(await store.listMemories({ limit: 1 }).then(Boolean, () => false)));
    };
    let kill = (): void => {};
    const killed = new Promise<void>((resolve, reject) => {
      kill = () => servers.killMaster(`${prefix}index:{index}:all`).then(() => resolve(takenOver()), reject);
    });
    const writers = memoryIds.map((memoryId) => writeThrough(store, memoryId, 20, killed));
    while ((await store.getMessages("failover 0")).nextSeq < 60);
    kill();
    await Promise.all(writers);
    const listed = await store.listMemories({});
    expect(listed.memories.map(({ memoryId }) => memoryId)).toEqual(expect.arrayContaining(memoryIds));
    await store.updateMessages("begun after", update(null, 2, { owner: "after", append: [message(1)] }));
    expect((await store.listMemories({ owner: "after" })).memories).toHaveLength(1);
  }, 120_000);
});
