import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { echo } from "../src/stores/echo.ts";
import { startTrafficCounter } from "../src/stores/traffic.ts";

test.each([0, 0.5, 20])("with %s ms of delay all bytes arrive, in their order", async (delayMs) => {
  const server = createServer((socket) => socket.pipe(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const counter = await startTrafficCounter(url, [0.5, 20]);
  const { port, hostname } = new URL(counter.through(url, delayMs));
  const socket = connect(Number(port), hostname);
  const sent = Buffer.alloc(300_000, "0123456789abcdefghijk");
  for (let from = 0; from < sent.length; from += 1_000) socket.write(sent.subarray(from, from + 1_000));
  const received: Buffer[] = [];
  let left = sent.length;
  for await (const chunk of socket) {
    received.push(chunk as Buffer);
    left -= (chunk as Buffer).length;
    if (left <= 0) break;
  }
  expect(Buffer.concat(received).equals(sent)).toBe(true);
  const { bytesSent, bytesReceived } = counter.traffic();
  expect([bytesSent, bytesReceived]).toEqual([sent.length, sent.length]);
  await counter.stop();
  server.close();
});

test("a delay is no shorter than it says", async () => {
  expect(await echo(0.5)).toBeGreaterThanOrEqual(0.5);
  expect(await echo(20)).toBeGreaterThanOrEqual(20);
});
