import { importError } from "@turnkeep/core/store-kit";
import { isReply, refusedDatabase } from "./refusals.ts";

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
  /** Another number for each connection, one after the other. */
  connection(): number;
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
  on?(event: string, listener: () => void): unknown;
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
  const closed = counted(client, watchClosing);
  const { scaleReads = "master", autoResendUnfulfilledCommands } = client.options ?? {};
  const resends = client.nodes !== undefined || autoResendUnfulfilledCommands !== false;
  const isMaster = client.status !== undefined && scaleReads === "master";
  return {
    call: (command, args) => client.call(command, args),
    // Whatever else has a `call` may have replicas behind it that answer late.
    readsMaster: isMaster,
    breaks: () => (resends ? closed.count : 0),
    connection: () => closed.count,
    renew() {
      for (const node of client.nodes?.() ?? [client]) {
        // One that is still being made is left alone: calls that are too hasty for it would never let it come about.
        if (node.status === "ready") node.stream?.destroy();
      }
    },
  };
}

/** A client of `ioredis`, or a cluster's clients: tells of each connection that ends. */
function watchClosing(client: IoredisClient, note: () => void): void {
  const watch = (node: IoredisClient): void => void node.on?.("close", note);
  for (const node of client.nodes?.() ?? [client]) watch(node);
  if (client.nodes !== undefined) client.on?.("+node", watch);
}

const counts = new WeakMap<object, { count: number }>();

/** How often something has happened to a client: one listener per connection, however many stores the client serves. */
function counted<C extends object>(
  client: C,
  watch: (client: C, note: () => void) => void,
): { readonly count: number } {
  const known = counts.get(client);
  if (known !== undefined) return known;
  const made = { count: 0 };
  counts.set(client, made);
  watch(client, () => made.count++);
  return made;
}

/** It never sends a command again that may have arrived. */
function nodeRedisDriver(client: NodeRedis): Driver {
  const opened = counted(client, ({ on }, note) => void on?.call(client, "ready", note));
  let renewed: Promise<unknown> | undefined;
  return {
    async call(command, args) {
      // Meanwhile it would refuse the call.
      await renewed;
      return client.sendCommand([command, ...args.map(String)]);
    },
    readsMaster: true,
    breaks: () => 0,
    connection: () => opened.count,
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
