import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** The address that every server here listens on: nothing is reachable from another machine. */
export const loopback = "127.0.0.1";

/** Another process took the port between the moment it was found free and the server's start. */
export class PortTaken extends Error {
  constructor(port: number) {
    super(`port ${port} was taken by another process`);
  }
}

/** A TCP port on the loopback address that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, loopback);
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
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
