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
  /** How many connections have broken on which the driver may have sent a command, to send it again on the next. */
  breaks(): number;
  /** Drops connections that do not answer, so that the driver opens others. */
  renew(): void;
}

/** What `ioredis` has besides `call`, as far as it is used here. */
interface IoredisClient extends RedisClient {
  readonly status?: string;
  readonly stream?: { destroy(): unknown };
  readonly options?: { readonly autoResendUnfulfilledCommands?: boolean };
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
  return {
    call: (command, args) => client.call(command, args),
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
