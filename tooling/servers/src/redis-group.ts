import type { UnpackedProgram } from "./debian.ts";
import { type EngineProgram, engines, findOnMachine, type RedisEngine } from "./redis-engines.ts";
import { type RedisNode, type RedisProcess, redisVersion } from "./redis-process.ts";
import { firstAvailable, type Source, sourcesFrom } from "./sources.ts";

/** Options of several servers that work together. They come from the machine or the cache. */
export interface RedisGroupOptions {
  /** Default `"redis"`. */
  readonly engine?: RedisEngine | undefined;
  /** Only these are tried: `"machine"`, `"cache"`. Default: what `TURNKEEP_REDIS_SOURCE` (…) says, else both. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says what was started. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

/** Several servers that work together. */
export interface RedisGroup {
  readonly engine: RedisEngine;
  readonly source: Source;
  /** `"8.2.3"` */
  readonly version: string;
  /** The servers that hold data; those that began as masters come first. */
  readonly nodes: readonly RedisNode[];
  /** Ends all of them and removes their data. Calling it again does nothing. */
  stop(): Promise<void>;
}

/** Starts one process of a group, which is stopped with the others. */
export type StartMember = (start: (program: EngineProgram) => Promise<RedisProcess>) => Promise<RedisProcess>;

/** Finds the program and has `build` start what the group needs; leaves nothing behind when it fails. */
export async function startGroup<T>(
  what: string,
  options: RedisGroupOptions,
  build: (start: StartMember) => Promise<T & Pick<RedisGroup, "nodes">>,
): Promise<T & RedisGroup> {
  const { engine: kind = "redis", env = process.env, log = console.log } = options;
  const engine = engines[kind];
  const { source, program } = await firstAvailable(
    engine.name,
    [
      { source: "machine", start: async () => found("machine", await findOnMachine(engine, env)) },
      { source: "cache", start: async () => found("cache", await engine.fetch(env)) },
    ],
    options.sources ?? sourcesFrom(`${engine.variable}_SOURCE`, env),
    `Install ${engine.name}, or run these tests where it can be fetched.`,
  );
  const members: Promise<RedisProcess>[] = [];
  async function stop(): Promise<void> {
    const started = await Promise.allSettled(members);
    await Promise.all(started.map((member) => member.status === "fulfilled" && member.value.stop()));
  }
  try {
    const built = await build((start) => {
      const member = start({ engine, program });
      members.push(member);
      return member;
    });
    const version = await redisVersion(built.nodes[0]?.url ?? "");
    log(`servers: ${what} of ${engine.product} ${version} (${source}: ${program.command})`);
    return { ...built, engine: kind, source, version, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function found(source: Source, program: UnpackedProgram): { source: Source; program: UnpackedProgram } {
  return { source, program };
}
