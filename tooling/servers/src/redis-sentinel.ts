import { loopback } from "./ports.ts";
import { type RedisGroup, type RedisGroupOptions, startGroup } from "./redis-group.ts";
import {
  type RedisNode,
  startRedisProcess,
  startSentinelProcess,
  until,
  withRedis,
} from "./redis-process.ts";

/** A master with replicas, watched by three sentinels that put a replica in its place when it is gone. */
export interface RedisSentinel extends RedisGroup {
  /** What the sentinels call the master. */
  readonly name: string;
  /** Where the sentinels are: the option `sentinels` of `ioredis`. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** Kills the present master as a crash would. The sentinels promote a replica some seconds later. */
  killMaster(): Promise<RedisNode>;
}

const masterName = "turnkeep";
const sentinelsCount = 3;

/**
 * Starts a master, its replicas (default 2) and three sentinels on the loopback address, who take half a second's silence
 * for death. Answers when all sentinels know each other and the replicas, and every replica has its master's data.
 *
 * @example
 * ```ts
 * import { startRedisSentinel } from "@turnkeep/servers";
 *
 * const { name, sentinels, stop } = await startRedisSentinel({ replicas: 1 });
 * console.log(name, sentinels);
 * await stop();
 * ```
 */
export function startRedisSentinel(
  options: RedisGroupOptions & { readonly replicas?: number | undefined } = {},
): Promise<RedisSentinel> {
  const { replicas: count = 2 } = options;
  return startGroup(`master, ${count} replicas and 3 sentinels`, options, async (start) => {
    const settings = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"];
    const master = await start((program) => startRedisProcess(program, settings));
    const ofMaster = [...settings, "--replicaof", loopback, String(master.port)];
    const replicas = await Promise.all(
      Array.from({ length: count }, () => start((program) => startRedisProcess(program, ofMaster))),
    );
    for (const { url } of replicas) await until("a replica did not find its master", () => isLinked(url));
    const watchers = await Promise.all(
      Array.from({ length: sentinelsCount }, () =>
        start((program) =>
          startSentinelProcess(program, [
            `sentinel monitor ${masterName} ${loopback} ${master.port} 2`,
            `sentinel down-after-milliseconds ${masterName} 500`,
            `sentinel failover-timeout ${masterName} 3000`,
          ]),
        ),
      ),
    );
    for (const { url } of watchers) {
      await until("a sentinel did not meet the others", async () => {
        const state = await stateOf(url);
        return (
          state.get("num-slaves") === String(count) &&
          state.get("num-other-sentinels") === String(sentinelsCount - 1)
        );
      });
    }
    const nodes: RedisNode[] = [master, ...replicas];
    return {
      nodes,
      name: masterName,
      sentinels: watchers.map(({ port }) => ({ host: loopback, port })),
      async killMaster() {
        const port = Number((await stateOf(watchers[0]?.url ?? "")).get("port"));
        const present = nodes.find((node) => node.port === port);
        if (present === undefined) throw new Error(`the sentinels name a master at port ${port}`);
        await present.kill();
        return present;
      },
    };
  });
}

function isLinked(url: string): Promise<boolean> {
  return withRedis(url, async (client) => /master_link_status:up/.test(await client.info("replication")));
}

/** What a sentinel says of the master, by field. */
function stateOf(url: string): Promise<Map<string, string>> {
  return withRedis(url, async (client) => {
    const fields = (await client.call("SENTINEL", ["MASTER", masterName])) as string[];
    return new Map(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ""]] : [])));
  });
}
