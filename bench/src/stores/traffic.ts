import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Traffic } from "./contender.ts";

/** Stands between a client and a server and counts what it passes on. */
export interface TrafficCounter {
  /** The same address, by way of the counter. */
  through(url: string): string;
  /** What has passed since the last question. */
  traffic(): Traffic;
  stop(): Promise<void>;
}

/**
 * Starts a counter in front of the server of that address. A round trip begins when a client speaks after the server
 * did: so many pieces that a client sends in a row are one, and only one client may speak at a time.
 */
export async function startTrafficCounter(target: string): Promise<TrafficCounter> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  let bytesSent = 0;
  let bytesReceived = 0;
  let clientSpoke = false;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (!clientSpoke) roundTrips++;
      clientSpoke = true;
      bytesSent += chunk.length;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      clientSpoke = false;
      bytesReceived += chunk.length;
      client.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;

  return {
    through(url) {
      const changed = new URL(url);
      changed.hostname = "127.0.0.1";
      changed.port = String(own);
      return changed.href;
    },
    traffic() {
      const counted = { roundTrips, bytesSent, bytesReceived };
      roundTrips = bytesSent = bytesReceived = 0;
      clientSpoke = false;
      return counted;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
