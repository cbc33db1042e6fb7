import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import type { ChatMemoryStore } from "@turnkeep/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { callsOf, failure, said } from "./calls.ts";
import { message, update } from "./updates.ts";

/**
 * A store of its own client for that port of this machine, whose driver gives up after so many milliseconds. The password
 * is `s3cret`.
 */
export type OpenStore = (
  port: number,
  giveUpAfterMs: number,
) => ChatMemoryStore & { migrate?(options: { signal: AbortSignal }): Promise<void> };

/** Tests of what every store does where nobody answers. They start what they need. */
export function describeUnanswered(open: OpenStore): void {
  test("a signal that has fired stops a call before anything is sent", async () => {
    const store = open(1, 200);
    const options = { signal: AbortSignal.abort() };
    const calls = callsOf(store, options);
    if (store.migrate !== undefined) calls.push(async () => store.migrate?.(options));
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
  });

  test("a server that is not there is STORE_UNAVAILABLE, says why, and tells no password", async () => {
    // Long enough for a busy machine to see the refusal first. MongoDB's driver looks for a server until then.
    const store = open(1, 5_000);
    const append = update(null, 2, { append: [message(1, '"private words"')] });
    const calls = [() => store.getMessages("a"), () => store.updateMessages("a", append)];
    for (const error of await Promise.all(calls.map(failure))) {
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(said(error)).toContain("ECONNREFUSED");
      expect(said(error)).not.toMatch(/s3cret|private words/);
    }
    await store.close();
  });

  describe("a server that accepts and never answers", () => {
    let server: Server;
    const sockets = new Set<Socket>();
    let port: number;

    beforeAll(async () => {
      server = createServer((socket) => sockets.add(socket.on("error", () => {})));
      await once(server.listen(0, "127.0.0.1"), "listening");
      port = (server.address() as AddressInfo).port;
    });
    afterAll(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });

    test("is not connected to before the first call", async () => {
      const untouched = createServer((socket) => socket.destroy());
      let connections = 0;
      untouched.on("connection", () => connections++);
      await once(untouched.listen(0, "127.0.0.1"), "listening");
      const { port: untouchedPort } = untouched.address() as AddressInfo;
      const store = open(untouchedPort, 5_000);
      // Another store's first call, by the same driver: what the first store had begun has been sent by then.
      const other = open(port, 5_000);
      const controller = new AbortController();
      const connected = once(server, "connection");
      const call = other.getMessages("a", { signal: controller.signal });
      await connected;
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      // A server takes connections in the order in which they came, so this one is behind it.
      await once(createConnection(untouchedPort, "127.0.0.1"), "close");
      expect(connections).toBe(1);
      await Promise.all([store.close(), other.close()]);
      await new Promise((resolve) => untouched.close(resolve));
    });

    test("ends by the caller's signal", async () => {
      const store = open(port, 5_000);
      const controller = new AbortController();
      const connected = once(server, "connection");
      const call = store.getMessages("a", { signal: controller.signal });
      await connected;
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      await store.close();
    });

    test("ends by the driver's time-out as STORE_UNAVAILABLE, and tells no password", async () => {
      const store = open(port, 200);
      const error = await failure(() => store.getMessages("a"));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(said(error)).not.toContain("s3cret");
      await store.close();
    });
  });
}

/**
 * A call of a store whose server accepts and never answers is `STORE_UNAVAILABLE` after so many milliseconds, by a clock
 * that is moved.
 */
export async function expectGivesUpAfter(ms: number, open: (port: number) => ChatMemoryStore): Promise<void> {
  const silent = createServer((socket) => socket.on("error", () => {}));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void silent.close());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = open((silent.address() as AddressInfo).port);
  const ended = vi.fn();
  const call = failure(() => store.getMessages("a")).finally(ended);
  await once(silent, "connection");
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await call).toMatchObject({ code: "STORE_UNAVAILABLE" });
  vi.useRealTimers();
  await store.close();
}
