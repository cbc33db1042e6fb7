import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What can happen to a request on its way. */
export type NetworkFault =
  /** Half of it arrives, then the connection is reset. */
  | "reset"
  /** It arrives whole and is served; the connection is reset when the answer comes. */
  | "drop-reply"
  /** It does not arrive, and nothing ever comes back; the connection stays open. */
  | "hang";

/** Stands between a client and a server, passes bytes on, and does harm when it is told to. */
export interface NetworkProxy {
  readonly port: number;
  /** The same address, by way of the proxy. */
  through(url: string): string;
  /**
   * Does that harm to the next request that holds `marker`, plain ASCII; resolves when it was done. `meanwhile` runs after a
   * request whose reply is lost was served, and before its client learns that.
   */
  strike(marker: string, fault: NetworkFault, meanwhile?: () => Promise<unknown>): Promise<void>;
  /** From now on nothing arrives and nothing comes back, on no connection, until `release`. */
  hang(): void;
  /** From now on nothing passes on the connections that there are, and all stay open; new ones work. */
  forget(): void;
  /** Resets what hangs, so that clients connect anew; everything passes again. */
  release(): void;
  /** Each piece takes so many milliseconds longer, in both directions. */
  delay(ms: number): void;
  stop(): Promise<void>;
}

interface Strike {
  readonly marker: string;
  readonly fault: NetworkFault;
  readonly meanwhile: () => Promise<unknown>;
  readonly done: () => void;
}

/** Starts a proxy on the loopback address to the server of that address. */
export async function startProxy(target: string): Promise<NetworkProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const strikes: Strike[] = [];
  const forgets = new Set<() => void>();
  let hanging = false;
  let delayMs = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const reset = (): void => {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    };
    let dropsReplies = false;
    let stuck = false;
    const forget = (): void => {
      stuck = true;
    };
    forgets.add(forget);
    /** The end of what was sent before: a marker may be cut in two. */
    let tail = "";

    function send(from: Socket, to: Socket, chunk: Buffer): void {
      if (delayMs === 0 || to.destroyed) {
        to.write(chunk);
        return;
      }
      // One piece at a time, so that they stay in order.
      from.pause();
      setTimeout(() => {
        if (!to.destroyed) to.write(chunk);
        from.resume();
      }, delayMs);
    }

    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        forgets.delete(forget);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (hanging || stuck) return;
      const seen = tail + chunk.toString("latin1");
      const struck = strikes.findIndex(({ marker }) => seen.includes(marker));
      tail = seen.slice(-100);
      if (struck === -1) return send(client, upstream, chunk);
      const [strike] = strikes.splice(struck, 1) as [Strike];
      tail = "";
      if (strike.fault === "reset") {
        upstream.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => {
          reset();
          strike.done();
        });
      } else if (strike.fault === "hang") {
        stuck = true;
        strike.done();
      } else {
        dropsReplies = true;
        upstream.write(chunk);
        upstream.once("data", async () => {
          await strike.meanwhile();
          reset();
          strike.done();
        });
      }
    });
    upstream.on("data", (chunk) => {
      if (!hanging && !stuck && !dropsReplies) send(upstream, client, chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;

  return {
    port: own,
    through(url) {
      const changed = new URL(url);
      changed.hostname = "127.0.0.1";
      changed.port = String(own);
      return changed.href;
    },
    strike: (marker, fault, meanwhile = async () => {}) =>
      new Promise((done) => strikes.push({ marker, fault, meanwhile, done })),
    forget() {
      for (const forget of forgets) forget();
    },
    hang() {
      hanging = true;
    },
    release() {
      hanging = false;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    delay(ms) {
      delayMs = ms;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
