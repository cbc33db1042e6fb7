import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Traffic } from "./contender.ts";

/** Stands between a client and a server and counts what it passes on. */
export interface TrafficCounter {
  /** The same address, by way of the counter, or of one of the delays that it was started with. */
  through(url: string, delayMs?: number): string;
  /** What has passed since the last question. */
  traffic(): Traffic;
  stop(): Promise<void>;
}

/**
 * Starts a counter in front of the server of that address. A round trip begins when a client speaks after the server
 * did: so many pieces that a client sends in a row are one, and only one client may speak at a time.
 *
 * @param delaysMs what may be added to a round trip, half of it each way.
 */
export async function startTrafficCounter(
  target: string,
  delaysMs: readonly number[] = [],
): Promise<TrafficCounter> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  let bytesSent = 0;
  let bytesReceived = 0;
  let clientSpoke = false;

  function pass(client: Socket, later: Later): void {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        later(() => {
          client.destroy();
          upstream.destroy();
        });
      });
    }
    client.on("data", (chunk) => {
      if (!clientSpoke) roundTrips++;
      clientSpoke = true;
      bytesSent += chunk.length;
      later(() => upstream.write(chunk));
    });
    upstream.on("data", (chunk) => {
      clientSpoke = false;
      bytesReceived += chunk.length;
      later(() => client.write(chunk));
    });
  }
  const servers = new Map(
    [0, ...delaysMs].map((delayMs) => {
      const later = laterBy(delayMs / 2);
      return [delayMs, createServer((client) => pass(client, later))];
    }),
  );
  for (const server of servers.values()) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  return {
    through(url, delayMs = 0) {
      const server = servers.get(delayMs);
      if (server === undefined) throw new Error(`No way of ${delayMs} ms was started`);
      const changed = new URL(url);
      changed.hostname = "127.0.0.1";
      changed.port = String((server.address() as AddressInfo).port);
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
      for (const server of servers.values()) {
        server.close();
        await once(server, "close");
      }
    },
  };
}

/** Does something after a time, in the order in which it is asked. */
type Later = (run: () => unknown) => void;

/** Timers know whole milliseconds and may be late, so the clock is asked all the time, between whatever else the process does. */
function laterBy(ms: number): Later {
  if (ms === 0) return (run) => run();
  const due: { readonly at: number; readonly run: () => unknown }[] = [];
  function look(): void {
    while (due[0] !== undefined && due[0].at <= performance.now()) due.shift()?.run();
    if (due.length > 0) setImmediate(look);
  }
  return (run) => {
    due.push({ at: performance.now() + ms, run });
    if (due.length === 1) look();
  };
}
