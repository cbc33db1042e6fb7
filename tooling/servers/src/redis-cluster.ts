import { loopback } from "./ports.ts";
import { type RedisGroup, type RedisGroupOptions, startGroup } from "./redis-group.ts";
import { type RedisNode, startRedisProcess, until, withRedis } from "./redis-process.ts";

/** A Redis Cluster of three masters with a replica each. */
export interface RedisCluster extends RedisGroup {
  /** Kills the master that has the slot of the key, as a crash would. Its replica takes over some seconds later. */
  killMaster(key: string): Promise<RedisNode>;
}

const mastersCount = 3;
const slots = 16_384;

/**
 * Starts a Redis Cluster on the loopback address: three masters and three replicas that notice within some seconds that
 * a master is gone, and take none for gone that is only busy. Answers when every server knows every other and every
 * replica has its master's data.
 *
 * @example
 * ```ts
 * import { startRedisCluster } from "@turnkeep/servers";
 *
 * const cluster = await startRedisCluster();
 * console.log(cluster.nodes.map(({ url }) => url));
 * await cluster.stop();
 * ```
 */
export function startRedisCluster(options: RedisGroupOptions = {}): Promise<RedisCluster> {
  return startGroup("cluster (3 masters, 3 replicas)", options, async (start) => {
    const nodes: RedisNode[] = await Promise.all(
      Array.from({ length: 2 * mastersCount }, () =>
        start((program) =>
          startRedisProcess(program, [
            ...["--save", "", "--appendonly", "no", "--cluster-enabled", "yes"],
            ...["--cluster-announce-ip", loopback, "--cluster-node-timeout", "3000"],
            // However late a replica heard from its master: on a loaded machine it must still take over.
            ...["--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"],
            // A replica is shown to clients only once it has received something.
            ...["--repl-ping-replica-period", "1"],
          ]),
        ),
      ),
    );
    await join(nodes);
    return { nodes, killMaster: (key: string) => killMaster(nodes, key) };
  });
}

async function join(nodes: readonly RedisNode[]): Promise<void> {
  const ids: string[] = [];
  for (const [index, { url }] of nodes.entries()) {
    await withRedis(url, async (client) => {
      ids.push(String(await client.cluster("MYID")));
      // Without an order of their own they would have to settle one first.
      await client.call("CLUSTER", ["SET-CONFIG-EPOCH", index + 1]);
      if (index >= mastersCount) return;
      const from = Math.floor((index * slots) / mastersCount);
      const to = Math.floor(((index + 1) * slots) / mastersCount) - 1;
      await client.cluster("ADDSLOTSRANGE", from, to);
    });
  }
  const [first] = nodes;
  for (const { url, port } of nodes.slice(1)) {
    await withRedis(first?.url ?? "", async (client) => {
      const [, bus] = (await withRedis(url, (other) => other.config("GET", "cluster-port"))) as string[];
      await client.call("CLUSTER", ["MEET", loopback, port, bus ?? ""]);
    });
  }
  for (const [index, { url }] of nodes.entries()) {
    await until("a cluster's servers did not meet", async () => (await met(url)) === nodes.length);
    const masterId = ids[index - mastersCount];
    if (masterId !== undefined)
      await withRedis(url, (client) => client.call("CLUSTER", ["REPLICATE", masterId]));
  }
  for (const { url } of nodes) await until("a cluster did not come up", () => isReady(url));
}

/** With how many servers, itself included, this one has shaken hands. */
function met(url: string): Promise<number> {
  return withRedis(url, async (client) => {
    const lines = String(await client.cluster("NODES"))
      .trim()
      .split("\n");
    return lines.filter((line) => !/handshake|fail|noaddr|disconnected/.test(line)).length;
  });
}

/** Whether this server serves, and shows clients every master with a replica that has data. */
function isReady(url: string): Promise<boolean> {
  return withRedis(url, async (client) => {
    if (!/cluster_state:ok/.test(await client.cluster("INFO"))) return false;
    const ranges = await client.cluster("SLOTS");
    return ranges.length === mastersCount && ranges.every(([, , ...servers]) => servers.length === 2);
  });
}

async function killMaster(nodes: readonly RedisNode[], key: string): Promise<RedisNode> {
  for (const node of nodes) {
    const port = await withRedis(node.url, async (client) => {
      const slot = Number(await client.cluster("KEYSLOT", key));
      const ranges = await client.cluster("SLOTS");
      return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
    }).catch(() => undefined);
    const master = nodes.find((other) => other.port === port);
    if (master === undefined) continue;
    await master.kill();
    return master;
  }
  throw new Error(`no server of the cluster knows a master for the key ${JSON.stringify(key)}`);
}
