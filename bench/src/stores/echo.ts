import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { median, timesOf } from "../measure.ts";
import { startTrafficCounter } from "./traffic.ts";

/** What a round trip of one byte takes by way of a delay, in milliseconds: the median of 40. */
export async function echo(delayMs: number): Promise<number> {
  const server = createServer((socket) => socket.setNoDelay(true).pipe(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const counter = await startTrafficCounter(url, [delayMs]);
  const { port, hostname } = new URL(counter.through(url, delayMs));
  const socket = connect(Number(port), hostname).setNoDelay(true);
  try {
    return median(
      await timesOf(40, async () => {
        const answered = once(socket, "data");
        socket.write("?");
        await answered;
      }),
    );
  } finally {
    socket.destroy();
    await counter.stop();
    server.close();
  }
}
