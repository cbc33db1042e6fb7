import { driverCalls, importError, type StoreConnection } from "@turnkeep/core/store-kit";
import type { Redis } from "ioredis";
import type { Statement } from "./lua.ts";
import type { RedisConnection, WaitReplicas } from "./options.ts";

export const storeName = "redisStore";

/** What the store needs from a client. A `Redis` of `ioredis` provides it. */
export interface RedisClient {
  /** Sends one command; replies are texts, numbers, null, and lists of these. */
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** Whether commands go to several servers. */
  readonly isCluster?: boolean | undefined;
}

export interface Calls {
  readonly run: Run;
  /** Waits until the replicas have what this connection wrote. */
  wait(replicas: WaitReplicas): Promise<void>;
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

interface Opened {
  readonly client: Redis;
  /** Why it is not connected, as its listener was last told. */
  fault?: unknown;
}

/** Does no I/O. */
export function connect({ client, url, config }: RedisConnection): StoreConnection<Calls> {
  let opened: Promise<Opened> | undefined;
  const calls = driverCalls(storeName);

  async function send(command: string, args: (string | number)[]): Promise<unknown> {
    if (client !== undefined) return client.call(command, args);
    opened ??= open(url, config);
    const opening = opened;
    const own = await opening;
    try {
      return await own.client.call(command, args);
    } catch (cause) {
      if (isRefusedDatabase(own.fault)) {
        if (opened === opening) opened = undefined;
        throw own.fault;
      }
      // The driver only reports that it gave up, or has nowhere to send the call; its listener gets the reason.
      throw isNamed(cause, "ReplyError") ? cause : (own.fault ?? cause);
    }
  }

  async function evaluate<A>({ script, keys, values }: Statement<A>): Promise<A> {
    const args = [keys.length, ...keys, ...values];
    try {
      return (await send("EVALSHA", [script.sha, ...args])) as A;
    } catch (cause) {
      // After a restart, a failover or SCRIPT FLUSH the server has no scripts; sending the text stores it again.
      if (codeOf(cause) !== "NOSCRIPT") throw cause;
      return (await send("EVAL", [script.text, ...args])) as A;
    }
  }

  async function wait({ count, timeoutMs }: WaitReplicas): Promise<void> {
    const reached = Number(await send("WAIT", [count, timeoutMs]));
    if (reached >= count) return;
    throw new Error(
      `The master has the write, but only ${reached} of ${count} replicas within ${timeoutMs} ms`,
    );
  }

  return {
    under(signal) {
      const track = <T>(call: () => Promise<T>): Promise<T> =>
        calls.run(() => call().catch(throwWithoutContent), signal);
      return {
        run: (statement) => track(() => evaluate(statement)),
        wait: (replicas) => track(() => wait(replicas)),
      };
    },
    async close() {
      await calls.settled();
      const own = await opened?.catch(() => undefined);
      own?.client.disconnect();
    },
  };
}

/**
 * If the server is unreachable, a call fails at once instead of after many attempts; the driver reconnects for the next
 * one. Nothing is sent twice: see the option `client`.
 */
const settings = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 10_000,
  commandTimeout: 30_000,
  keepAlive: 10_000,
  // For a master that became a replica: a new connection leads to the new master, if the address does.
  reconnectOnError: (error: Error): boolean => codeOf(error) === "READONLY",
};

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("ioredis");
  } catch (cause) {
    throw importError("ioredis", cause);
  }
}

async function open(url: string | undefined, config: object | undefined): Promise<Opened> {
  const driver = await importDriver();
  // The first releases of 5 export the class only as the module itself.
  const Redis = driver.Redis ?? (driver.default as unknown as typeof driver.Redis);
  // Connected at the first call: with `lazyConnect: false` and no queue, the client would refuse that call.
  const options = { ...settings, ...config, lazyConnect: true };
  const client = url === undefined ? new Redis(options) : new Redis(url, options);
  const opened: Opened = { client };
  // Without a listener the driver prints to the console.
  client.on("error", (fault: unknown) => {
    opened.fault = fault;
    // Otherwise the driver would continue in database 0, where somebody else's data may be.
    if (isRefusedDatabase(fault)) client.disconnect();
  });
  // What was wrong before says nothing about a connection that breaks later.
  client.on("connect", () => {
    opened.fault = undefined;
  });
  // Without its queue the driver refuses calls before it is connected. If it cannot connect, each call says why.
  if (client.options.enableOfflineQueue === false) await client.connect().catch(() => {});
  return opened;
}

/** Whether the server refused the connection's database: because of its number, or for this user. */
function isRefusedDatabase(fault: unknown): fault is Error {
  if (!isNamed(fault, "ReplyError")) return false;
  return (fault as { command?: { readonly name?: string } }).command?.name === "select";
}

/** The driver attaches what it sent, with content and passwords. A server's refusal begins with its code. */
function throwWithoutContent(cause: unknown): never {
  if (!(cause instanceof Error)) throw cause;
  if ("command" in cause) delete cause.command;
  const code = codeOf(cause);
  if (isNamed(cause, "ReplyError") && code !== "") Object.assign(cause, { code });
  throw cause;
}

/**
 * `READONLY`, `NOSCRIPT` and the like, `""` if the message begins with no such word. Before Redis 7, and in servers that
 * answer as those did, a command that a script calls is refused as `ERR Error running script (…): … -READONLY …`.
 */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  return /^(?:ERR Error running script .*? -)?([A-Z]{3,})(?= |$)/.exec(cause.message)?.[1] ?? "";
}

function isNamed(cause: unknown, name: string): boolean {
  return cause instanceof Error && cause.name === name;
}
