import { randomBytes } from "node:crypto";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withClient, withDatabase } from "./database.ts";
import { fetchDebianProgram, type UnpackedProgram } from "./debian.ts";
import { startLocalServer } from "./local-server.ts";
import { findProgram, systemFolders, versionOf } from "./machine.ts";
import { loopback } from "./ports.ts";
import { serverUser } from "./process.ts";
import { createServerFolder } from "./records.ts";
import { firstAvailable, type Source, sourcesFrom } from "./sources.ts";

/** A PgBouncer in transaction mode in front of one Postgres server. */
export interface PgBouncer {
  /** The same database that the server's own address names, through PgBouncer. */
  readonly url: string;
  readonly source: Source;
  /** `"1.18.0"` */
  readonly version: string;
  /** The address of another database of that server, such as a `TestDatabase`'s, through PgBouncer. */
  through(databaseUrl: string): string;
  /** Ends it. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** Only these are tried: `"machine"`, `"cache"`. Default: what `TURNKEEP_PGBOUNCER_SOURCE` says, else both. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

interface Program extends UnpackedProgram {
  readonly source: Source;
}

const advice = "Install PgBouncer, or run these tests where Debian's packages can be fetched.";

/**
 * Starts PgBouncer with `pool_mode=transaction` before the Postgres at `postgresUrl`: the machine's, else Debian's
 * package fetched into the cache; `ServerUnavailable` says what was tried. Every database of the server is reachable
 * through it.
 *
 * @example
 * ```ts
 * import { startPgBouncer, startPostgres } from "@turnkeep/servers";
 *
 * const server = await startPostgres();
 * const database = await server.database();
 * const bouncer = await startPgBouncer(server.url);
 * console.log(bouncer.through(database.url));
 * await bouncer.stop();
 * await server.stop();
 * ```
 */
export async function startPgBouncer(
  postgresUrl: string,
  options: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const { env = process.env, log = console.log } = options;
  // Asked first, because PgBouncer would only keep its clients waiting for it.
  await withClient(postgresUrl, (client) => client.query("select 1"));
  const { source, port, version, command, stop } = await firstAvailable(
    "PgBouncer",
    [
      { source: "machine", start: async () => startProgram(await fromMachine(env), postgresUrl) },
      { source: "cache", start: async () => startProgram(await fromCache(env), postgresUrl) },
    ],
    options.sources ?? sourcesFrom("TURNKEEP_PGBOUNCER_SOURCE", env),
    advice,
  );
  log(`servers: PgBouncer ${version} at ${loopback}:${port} (${source}: ${command})`);
  const through = (url: string): string => throughPort(url, port);
  return { url: through(postgresUrl), source, version, through, stop };
}

async function fromMachine(env: NodeJS.ProcessEnv): Promise<Program> {
  const wanted = { program: "pgbouncer", folders: systemFolders, refuses: () => undefined };
  return { command: await findProgram(wanted, env), env, source: "machine" };
}

async function fromCache(env: NodeJS.ProcessEnv): Promise<Program> {
  return { ...(await fetchDebianProgram(["pgbouncer"], "usr/sbin/pgbouncer", env)), source: "cache" };
}

interface StartedProgram {
  readonly source: Source;
  readonly command: string;
  readonly version: string;
  readonly port: number;
  stop(): Promise<void>;
}

async function startProgram(program: Program, postgresUrl: string): Promise<StartedProgram> {
  const { command, env, source } = program;
  const user = serverUser();
  const version = /\d+(\.\d+)+/.exec(await versionOf(program))?.[0] ?? "";
  const folder = await createServerFolder("pgbouncer", "SIGQUIT");
  const file = join(folder.data, "pgbouncer.ini");
  // A name that no other PgBouncer knows: two starts may race for a port, and only this one answers to it.
  const alias = `turnkeep_${randomBytes(8).toString("hex")}`;
  const { port, stop } = await startLocalServer({
    name: "PgBouncer",
    folder,
    command,
    args(listenPort) {
      writeFileSync(file, configuration(postgresUrl, alias, listenPort), { mode: 0o600 });
      if (user !== undefined) chownSync(file, user.uid, user.gid);
      return [file];
    },
    env,
    ready: (listenPort) =>
      withClient(withDatabase(throughPort(postgresUrl, listenPort), alias), async (client) => {
        await client.query("select 1");
      }),
    // Ends at once in every version; the others wait for clients in some.
    stopSignal: "SIGQUIT",
  });
  return { source, command, version, port, stop };
}

/** Whoever connects comes through; PgBouncer itself logs in as the address's user, whose password only it knows. */
function throughPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.host = `${loopback}:${port}`;
  changed.username = "postgres";
  changed.password = "";
  return changed.href;
}

function configuration(postgresUrl: string, alias: string, port: number): string {
  const url = new URL(postgresUrl);
  const quote = (text: string): string => `'${decodeURIComponent(text).replaceAll("'", "''")}'`;
  const target = [
    `host=${quote(url.hostname)}`,
    `port=${url.port || "5432"}`,
    `user=${quote(url.username || "postgres")}`,
    ...(url.password === "" ? [] : [`password=${quote(url.password)}`]),
  ].join(" ");
  const database = quote(url.pathname.slice(1) || "postgres");
  return `[databases]
${alias} = ${target} dbname=${database}
* = ${target}

[pgbouncer]
listen_addr = ${loopback}
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 400
`;
}
