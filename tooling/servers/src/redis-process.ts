import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import type { UnpackedProgram } from "./debian.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";
import { freePort, loopback } from "./ports.ts";
import { serverUser } from "./process.ts";
import { createServerFolder, type ServerFolder } from "./records.ts";
import type { EngineProgram } from "./redis-engines.ts";

/** A process of Redis or Valkey on the loopback address. */
export interface RedisProcess extends LocalServer {
  /** `redis://host:port` */
  readonly url: string;
}

/** A server that is one of several. */
export type RedisNode = Pick<RedisProcess, "url" | "port" | "kill" | "start">;

/** Starts a server with these settings of its command line. */
export async function startRedisProcess(
  { engine, program }: EngineProgram,
  settings: readonly string[],
): Promise<RedisProcess> {
  const folder = await createServerFolder(engine.program, "SIGKILL");
  const { data } = folder;
  // A server of a cluster is known to the others by this port too: it keeps it in a restart.
  const busPorts = new Map<number, number>();
  return startIn(folder, engine.name, program, {
    async args(port) {
      const busPort = busPorts.get(port) ?? (await freePort());
      busPorts.set(port, busPort);
      const ports = ["--port", String(port), "--cluster-port", String(busPort)];
      return [...ports, "--bind", loopback, "--dir", data, ...settings];
    },
    isIt: async (client) => ((await client.call("CONFIG", ["GET", "dir"])) as string[])[1] === data,
  });
}

/** Starts a sentinel with these lines in its file, which it rewrites as it learns. */
export async function startSentinelProcess(
  { engine, program }: EngineProgram,
  lines: readonly string[],
): Promise<RedisProcess> {
  const folder = await createServerFolder("sentinel", "SIGKILL");
  const file = join(folder.data, "sentinel.conf");
  return startIn(folder, `${engine.name} Sentinel`, program, {
    args(port) {
      const all = [`port ${port}`, `bind ${loopback}`, `dir ${JSON.stringify(folder.data)}`, ...lines];
      writeFileSync(file, `${all.join("\n")}\n`, { mode: 0o600 });
      const user = serverUser();
      if (user !== undefined) chownSync(file, user.uid, user.gid);
      return [file, "--sentinel"];
    },
    isIt: async (client) => (await client.info("server")).includes(`config_file:${file}\r\n`),
  });
}

async function startIn(
  folder: ServerFolder,
  name: string,
  { command, env }: UnpackedProgram,
  plan: {
    args(port: number): readonly string[] | Promise<readonly string[]>;
    /** Two starts may race for a port, and the loser must not take the winner's server for its own. */
    isIt(client: Redis): Promise<boolean>;
  },
): Promise<RedisProcess> {
  const server = await startLocalServer({
    name,
    folder,
    command,
    args: plan.args,
    env: { ...env, LC_ALL: "C" },
    ready: (port) =>
      withRedis(urlAt(port), async (client) => {
        if (!(await plan.isIt(client))) throw new Error(`another server answers on port ${port}`);
      }),
    stopSignal: "SIGTERM",
  });
  return { url: urlAt(server.port), ...server };
}

function urlAt(port: number): string {
  return `redis://${loopback}:${port}`;
}

/** `"8.2.3"` */
export function redisVersion(url: string): Promise<string> {
  return withRedis(url, async (client) => {
    const info = await client.info("server");
    const found = /^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info);
    return found?.[1] ?? "of unknown version";
  });
}

/** Waits until the condition holds, for 20 seconds at most; its last error is the cause of the wait's. */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    let cause: unknown;
    const holds = await condition().catch((error: unknown) => {
      cause = error;
      return false;
    });
    if (holds) return;
    if (Date.now() > deadline) throw new Error(`${what} in 20 s`, { cause });
    await delay(20);
  }
}

/** Connects once, hands the client to `use` and closes it, whatever happens. Gives up after 5 seconds. */
export async function withRedis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
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
