import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type LocalServer, type LocalServerPlan, startLocalServer } from "../src/local-server.ts";
import { onFreePort, PortTaken } from "../src/ports.ts";
import { createServerFolder } from "../src/records.ts";

const listener = "require('net').createServer().listen(Number(process.argv[1]), '127.0.0.1')";

async function answers(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

/** Starts a program of Node.js as a server. */
async function startListener(args: LocalServerPlan["args"], ready = answers): Promise<LocalServer> {
  return startLocalServer({
    name: "Listener",
    folder: await createServerFolder("listener", "SIGKILL"),
    command: process.execPath,
    args,
    env: process.env,
    ready,
    stopSignal: "SIGTERM",
  });
}

it("takes another port when somebody was faster", async () => {
  const rival = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    rival.close();
  });
  await once(rival, "listening");
  const taken = (rival.address() as AddressInfo).port;
  const tried: number[] = [];
  const server = await startListener((port) => {
    tried.push(port);
    return ["-e", listener, String(tried.length === 1 ? taken : port)];
  });
  expect(tried).toHaveLength(2);
  expect(server.port).toBe(tried[1]);
  await answers(server.port);
  await server.stop();
  await expect(answers(server.port)).rejects.toThrow("ECONNREFUSED");
});

it("gives up after five ports", async () => {
  const tried: number[] = [];
  await expect(
    onFreePort((port) => {
      tried.push(port);
      return Promise.reject(new PortTaken(port));
    }),
  ).rejects.toBeInstanceOf(PortTaken);
  expect(tried).toHaveLength(5);
});

it("says what a server printed that ended at once", async () => {
  await expect(startListener(() => ["-e", "console.error('no licence'); process.exit(3)"])).rejects.toThrow(
    "Listener ended while it started: no licence",
  );
});

it("says how a server ended that printed nothing", async () => {
  const ready = () => Promise.reject(new Error("it does not listen"));
  await expect(startListener(() => ["-e", "process.kill(process.pid, 'SIGSEGV')"], ready)).rejects.toThrow(
    `Listener ended while it started: ${process.execPath} printed nothing and ended by SIGSEGV`,
  );
});
