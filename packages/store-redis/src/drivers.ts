import { importError } from "@turnkeep/core/store-kit";
import { codeOf, isReply, refusedDatabase } from "./refusals.ts";

/** What the store needs from a client. A `Redis` or `Cluster` of `ioredis` provides it. */
export interface RedisClient {
  /**
   * Sends one command, in lower case; replies are texts, numbers, null, and lists of these. A client of one's own sends it
   * once: if the answer is lost, it rejects, since somebody else may have written before the second.
   */
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** Whether commands go to several servers. */
  readonly isCluster?: boolean | undefined;
}

/** What the store needs from a client of `node-redis` (the package `redis`), which must be connected. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>;
}

/** A client, whichever driver it is of. */
export interface Driver {
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** Whether a command that only reads goes to the server that takes the writes, for certain. */
  readonly readsMaster: boolean;
  /** How many connections have broken on which the driver may have sent a command, to send it again on the next. */
  breaks(): number;
  /** Drops connections that do not answer, so that the driver opens others. */
  renew(): void;
}

/** What `ioredis` has besides `call`, as far as it is used here. */
interface IoredisClient extends RedisClient {
  readonly status?: string;
  readonly stream?: { destroy(): unknown };
  readonly options?: {
    readonly autoResendUnfulfilledCommands?: boolean | undefined;
    /** Of a cluster: which of its servers are read from. */
    readonly scaleReads?: unknown;
  };
  on?(event: string, listener: (node: IoredisClient) => void): unknown;
  /** The connections of a cluster. */
  nodes?(): IoredisClient[];
}

/** What a client of `node-redis` has besides `sendCommand`: `isReady` if it is no pool. */
interface NodeRedis extends NodeRedisClient {
  readonly isReady?: boolean;
  /** No longer, from the moment that its owner closes it. */
  readonly isOpen?: boolean;
  /** Before version 5 it is called `disconnect`. */
  destroy?(): unknown;
  disconnect?(): unknown;
  connect?(): Promise<unknown>;
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  if (typeof client !== "object" || client === null || "call" in client) return false;
  const send = "sendCommand" in client ? client.sendCommand : undefined;
  // That of a cluster or a sentinel wants to know more before the command.
  return typeof send === "function" && send.length <= 2;
}

export function driverOf(client: RedisClient | NodeRedisClient): Driver {
  return isNodeRedis(client) ? nodeRedisDriver(client) : ioredisDriver(client);
}

function ioredisDriver(client: IoredisClient): Driver {
  const breaks = breaksOf(client);
  const { scaleReads = "master" } = client.options ?? {};
  const isMaster = client.status !== undefined && scaleReads === "master";
  return {
    call: (command, args) => client.call(command, args),
    // Whatever else has a `call` may have replicas behind it that answer late.
    readsMaster: isMaster,
    breaks: () => breaks.count,
    renew() {
      for (const node of client.nodes?.() ?? [client]) {
        // One that is still being made is left alone: calls that are too hasty for it would never let it come about.
        if (node.status === "ready") node.stream?.destroy();
      }
    },
  };
}

const counted = new WeakMap<object, { count: number }>();

/** One listener per connection, however many stores the client serves. */
function breaksOf(client: IoredisClient): { readonly count: number } {
  const known = counted.get(client);
  if (known !== undefined) return known;
  const breaks = { count: 0 };
  counted.set(client, breaks);
  const watch = (node: IoredisClient): void => {
    node.on?.("close", () => {
      breaks.count++;
    });
  };
  if (client.nodes !== undefined) {
    client.nodes().forEach(watch);
    client.on?.("+node", watch);
  } else if (client.options?.autoResendUnfulfilledCommands !== false) watch(client);
  return breaks;
}

/** It never sends a command again that may have arrived. */
function nodeRedisDriver(client: NodeRedis): Driver {
  let renewed: Promise<unknown> | undefined;
  return {
    async call(command, args) {
      // Meanwhile it would refuse the call.
      await renewed;
      return client.sendCommand([command, ...args.map(String)]);
    },
    readsMaster: true,
    breaks: () => 0,
    renew() {
      if (client.isReady !== true || client.isOpen === false) return;
      // If it cannot connect, the calls tell.
      renewed = reconnect(client).catch(() => {});
    },
  };
}

/** It has no other way to leave a connection. */
async function reconnect(client: NodeRedis): Promise<void> {
  await (client.destroy === undefined ? client.disconnect?.() : client.destroy());
  await client.connect?.();
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

/** A driver of the store's own. `forget`: it is of no use any more, and has closed itself. */
export async function openDriver(
  url: string | undefined,
  config: object | undefined,
  forget: () => void,
): Promise<Driver & { close(): void }> {
  const module = await importDriver();
  // The first releases of 5 export the class only as the module itself.
  const Redis = module.Redis ?? (module.default as unknown as typeof module.Redis);
  // Connected at the first call: with `lazyConnect: false` and no queue, the client would refuse that call.
  const options = { ...settings, ...config, lazyConnect: true };
  const client = url === undefined ? new Redis(options) : new Redis(url, options);
  let fault: unknown;
  // Without a listener the driver prints to the console.
  client.on("error", (cause: unknown) => {
    const refused = refusedDatabase(cause);
    fault = refused ?? cause;
    if (refused === undefined) return;
    // Otherwise the driver would continue in database 0, where somebody else's data may be.
    client.disconnect();
    forget();
  });
  // What was wrong before says nothing about a connection that breaks later.
  client.on("connect", () => {
    fault = undefined;
  });
  // Without its queue the driver refuses calls before it is connected. If it cannot connect, each call says why.
  if (client.options.enableOfflineQueue === false) await client.connect().catch(() => {});
  const driver = ioredisDriver(client);
  return {
    ...driver,
    async call(command, args) {
      try {
        return await driver.call(command, args);
      } catch (cause) {
        // The driver only reports that it gave up, or has nowhere to send the call; its listener gets the reason.
        throw isReply(cause) ? cause : (fault ?? cause);
      }
    },
    close: () => client.disconnect(),
  };
}
