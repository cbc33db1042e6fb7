import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** The address that every server here listens on: nothing is reachable from another machine. */
export const loopback = "127.0.0.1";

/** Another process took the port between the moment it was found free and the server's start. */
export class PortTaken extends Error {
  constructor(port: number) {
    super(`port ${port} was taken by another process`);
  }
}

/**
 * Below the ports that systems give to outgoing connections (from 32768 or higher): one of those could hold the port of
 * a server that was killed and is to be started again.
 */
const [firstPort, lastPort] = [15_000, 32_000];

/** A TCP port on the loopback address that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, loopback);
    await once(probe, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  probe.close();
  await once(probe, "close");
  return true;
}

/** Calls `start` with a free port, and with another one when it throws `PortTaken`. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}
