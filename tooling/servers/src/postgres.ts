import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, readdir, realpath } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fetchTarball, fetchWheel } from "./cache.ts";
import { createDatabase, type TestDatabase, withClient } from "./database.ts";
import { startContainer } from "./docker.ts";
import { startLocalServer } from "./local-server.ts";
import { loopback } from "./ports.ts";
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
import { images, oldestPostgres, postgresTarball, postgresWheel } from "./versions.ts";

/** A Postgres server for tests. */
export interface PostgresServer {
  /** `postgres://user:password@host:port/database`, of a user that may create databases. */
  readonly url: string;
  readonly source: Source;
  /** `"18.6"` */
  readonly version: string;
  /** Makes an empty database. */
  database(): Promise<TestDatabase>;
  /**
   * Kills the server as a crash would, and starts it again on the same address and data. Only for a server from the
   * machine or the cache.
   */
  restart(): Promise<void>;
  /** Ends the server and removes its data; a server from the environment goes on. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Only these are tried. Default: what `TURNKEEP_POSTGRES_SOURCE` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Where the machine's installations are looked for beside `PATH`; each holds `<version>/bin`. */
  readonly installations?: readonly string[] | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

interface Started {
  readonly url: string;
  readonly source: Source;
  readonly origin: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const advice =
  "Start Docker, install Postgres, or set TURNKEEP_POSTGRES_URL to a server whose user may create databases.";

/**
 * Gives a real Postgres: the one at `TURNKEEP_POSTGRES_URL`, else one in Docker, else the machine's, else one fetched
 * from the Python index or from npm into the cache; `ServerUnavailable` says what was tried. It listens on the loopback address
 * only, writes durably as in production, and is stopped with its owner.
 *
 * @example
 * ```ts
 * import { startPostgres } from "@turnkeep/servers";
 *
 * const server = await startPostgres();
 * const database = await server.database();
 * console.log(database.url);
 * await database.drop();
 * await server.stop();
 * ```
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { env = process.env, installations = ["/usr/lib/postgresql"], log = console.log } = options;
  const allowed = options.sources ?? sourcesFrom("TURNKEEP_POSTGRES_SOURCE", env);
  const started = await firstAvailable<Started>(
    "Postgres",
    [
      { source: "env", start: () => fromEnvironment(env) },
      { source: "docker", start: () => fromDocker() },
      { source: "machine", start: () => fromMachine(env, installations) },
      { source: "cache", start: () => fromCache(env) },
    ],
    allowed,
    advice,
  );
  const { url, source, origin, restart, stop } = started;
  const version = await serverVersion(url);
  log(`servers: Postgres ${version} at ${new URL(url).host} (${source}: ${origin})`);
  return { url, source, version, database: () => createDatabase(url), restart, stop };
}

async function fromEnvironment(env: NodeJS.ProcessEnv): Promise<Started> {
  const url = env.TURNKEEP_POSTGRES_URL;
  if (url === undefined || url === "") throw new Error("TURNKEEP_POSTGRES_URL is not set");
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol)) {
    throw new FinalFailure(
      "TURNKEEP_POSTGRES_URL is no address such as postgres://user:password@host:5432/database",
    );
  }
  try {
    await serverVersion(url);
  } catch (error) {
    const why =
      error instanceof Error ? error.message || (error as NodeJS.ErrnoException).code : String(error);
    throw new FinalFailure(
      `the server at TURNKEEP_POSTGRES_URL (${new URL(url).host}) does not answer: ${why}`,
    );
  }
  return {
    url,
    source: "env",
    origin: "TURNKEEP_POSTGRES_URL",
    restart: () => cannotRestart("env"),
    stop: async () => {},
  };
}

async function fromDocker(): Promise<Started> {
  const password = randomBytes(16).toString("hex");
  const container = await startContainer({
    image: images.postgres,
    port: 5432,
    environment: { POSTGRES_PASSWORD: password },
  });
  const url = `postgres://postgres:${password}@${container.host}:${container.port}/postgres`;
  return {
    url,
    source: "docker",
    origin: images.postgres,
    restart: () => cannotRestart("docker"),
    stop: () => container.stop(),
  };
}

async function fromMachine(env: NodeJS.ProcessEnv, installations: readonly string[]): Promise<Started> {
  const bin = await findOnMachine(env, installations);
  return { ...(await startBinaries(bin, env)), source: "machine", origin: bin };
}

async function fromCache(env: NodeJS.ProcessEnv): Promise<Started> {
  const bin = await fetchBinaries(env);
  return { ...(await startBinaries(bin, env)), source: "cache", origin: bin };
}

/** From the Python index, which has all of Postgres's tools, else from npm, which has the server's own. */
async function fetchBinaries(env: NodeJS.ProcessEnv): Promise<string> {
  let wheelError: unknown;
  try {
    return join(
      await fetchWheel(postgresWheel, env),
      postgresWheel.name.replace("-", "_"),
      "pginstall",
      "bin",
    );
  } catch (error) {
    wheelError = error;
  }
  try {
    return join(await fetchTarball(postgresTarball, env), "native", "bin");
  } catch (error) {
    throw new Error(`${reasonOf(wheelError)}; ${reasonOf(error)}`, { cause: error });
  }
}

/** The folder of the first `postgres` that is new enough and has its `initdb` beside it. */
async function findOnMachine(env: NodeJS.ProcessEnv, installations: readonly string[]): Promise<string> {
  const onPath = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const rejected: string[] = [];
  for (const folder of [...onPath, ...(await installedVersions(installations))]) {
    const bin = await realFolder(folder);
    if (bin === undefined || rejected.some((line) => line.startsWith(`${bin} `))) continue;
    try {
      await access(join(bin, "initdb"), constants.X_OK);
      const version = await run(join(bin, "postgres"), ["--version"], { env, cwd: "/", user: serverUser() });
      if (Number(/\d+/.exec(version)?.[0]) >= oldestPostgres) return bin;
      rejected.push(`${bin} holds ${version.trim()}, older than ${oldestPostgres}`);
    } catch (error) {
      rejected.push(`${bin} cannot be used (${reasonOf(error)})`);
    }
  }
  const found = rejected.length === 0 ? "" : `: ${rejected.join("; ")}`;
  throw new Error(`no usable postgres on PATH or in ${installations.join(", ")}${found}`);
}

/** `<version>/bin` of each installation, the newest first. */
async function installedVersions(installations: readonly string[]): Promise<string[]> {
  const folders: string[] = [];
  for (const installation of installations) {
    const versions = await readdir(installation).catch(() => []);
    versions.sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a));
    folders.push(...versions.map((version) => join(installation, version, "bin")));
  }
  return folders;
}

/** Where the folder's `postgres` really lies: a link on `PATH` seldom has `initdb` beside it. */
async function realFolder(folder: string): Promise<string | undefined> {
  return realpath(join(folder, "postgres")).then(dirname, () => undefined);
}

async function startBinaries(
  bin: string,
  env: NodeJS.ProcessEnv,
): Promise<Pick<Started, "url" | "restart" | "stop">> {
  const folder = await createServerFolder("postgres", "SIGQUIT");
  const { data } = folder;
  const clean = withoutPostgresVariables(env);
  try {
    const init = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"];
    await run(join(bin, "initdb"), init, { cwd: data, env: clean, user: serverUser() });
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const urlAt = (port: number): string => `postgres://postgres@${loopback}:${port}/postgres`;
  const server = await startLocalServer({
    name: "Postgres",
    folder,
    command: join(bin, "postgres"),
    args: (port) => ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    env: clean,
    // Two starts may race for a port, and the loser must not take the winner's server for its own.
    ready: (port) =>
      withClient(urlAt(port), async (client) => {
        const { rows } = await client.query<{ data_directory: string }>("show data_directory");
        const answered = rows[0]?.data_directory;
        if (answered !== data) throw new Error(`another server answers on port ${port}`);
      }),
    stopSignal: "SIGINT",
    // What the killed server had started notices only after a moment that it is alone.
    startsLater: /pre-existing shared memory block|postmaster\.pid" already exists/,
  });
  return { url: urlAt(server.port), restart: server.restart, stop: server.stop };
}

const settings = [
  `listen_addresses=${loopback}`,
  "unix_socket_directories=",
  "max_connections=200",
  "shared_buffers=64MB",
];

/** Variables such as `PGDATA` would change what the server does; messages are matched, so they stay English. */
function withoutPostgresVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}

async function serverVersion(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return /^\S+/.exec(rows[0]?.server_version ?? "")?.[0] ?? "of unknown version";
  });
}
