import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type NetworkProxy, startProxy } from "../src/proxy.ts";

/** Answers every request, a line, with the same line in capitals, and remembers what arrived. */
const arrived: string[] = [];
const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    arrived.push(String(chunk));
    if (String(chunk).endsWith("\n")) socket.write(String(chunk).toUpperCase());
  });
});
let proxy: NetworkProxy;
let client: Socket;

beforeEach(async () => {
  arrived.length = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startProxy(`line://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client = await dial();
});
afterEach(async () => {
  client.destroy();
  await proxy.stop();
  server.close();
  await once(server, "close");
});

async function dial(): Promise<Socket> {
  const socket = connect(proxy.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** `once` would take the reset for a failure. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once("close", resolve));
}

async function ask(socket: Socket, line: string): Promise<string> {
  socket.write(line);
  const [answer] = await once(socket, "data");
  return String(answer);
}

test("passes on what it is given, and says by which address", async () => {
  expect(await ask(client, "one\n")).toBe("ONE\n");
  expect(proxy.through("redis://app:pw@db.example:6379/3")).toBe(`redis://app:pw@127.0.0.1:${proxy.port}/3`);
});

test("resets a connection when half of a request has arrived; others go on", async () => {
  const struck = proxy.strike("two", "reset");
  expect(await ask(client, "one\n")).toBe("ONE\n");
  client.write("say two words\n");
  await struck;
  await closed(client);
  const other = await dial();
  expect(await ask(other, "two\n")).toBe("TWO\n");
  other.destroy();
  // What a reset finds unread in the receiver may be thrown away with the connection.
  expect(arrived.join("")).toMatch(/^one\n(say two)?two\n$/);
});

test("drops a reply: the request has arrived, the connection is reset", async () => {
  const struck = proxy.strike("two", "drop-reply");
  const answers: string[] = [];
  client.on("data", (chunk) => answers.push(String(chunk)));
  client.write("two\n");
  await struck;
  await closed(client);
  expect(arrived).toEqual(["two\n"]);
  expect(answers).toEqual([]);
});

test("lets others act between a request and the loss of its reply", async () => {
  const other = await dial();
  const seen: string[] = [];
  let answer = "";
  const struck = proxy.strike("two", "drop-reply", async () => {
    seen.push(...arrived);
    answer = await ask(other, "three\n");
    expect(client.destroyed).toBe(false);
  });
  client.write("two\n");
  await struck;
  await closed(client);
  expect(seen).toEqual(["two\n"]);
  expect(answer).toBe("THREE\n");
  other.destroy();
});

test("forgets the connections that there are, which stay open, and takes new ones", async () => {
  const old = await dial();
  expect(await ask(old, "one\n")).toBe("ONE\n");
  proxy.forget();
  old.write("two\n");
  const other = await dial();
  expect(await ask(other, "three\n")).toBe("THREE\n");
  expect(old.destroyed).toBe(false);
  expect(arrived).toEqual(["one\n", "three\n"]);
  for (const socket of [old, other]) socket.destroy();
});

test("hangs one connection, or all, until it is released", async () => {
  const struck = proxy.strike("two", "hang");
  client.write("two\n");
  await struck;
  const other = await dial();
  expect(await ask(other, "three\n")).toBe("THREE\n");
  proxy.hang();
  other.write("four\n");
  const closing = [closed(client), closed(other)];
  proxy.release();
  await Promise.all(closing);
  expect(arrived).toEqual(["three\n"]);
  const again = await dial();
  expect(await ask(again, "five\n")).toBe("FIVE\n");
  again.destroy();
});

test("finds a marker that was cut in two, once", async () => {
  const struck = proxy.strike("marker", "drop-reply");
  client.setNoDelay(true);
  client.write("a mar");
  await expect.poll(() => arrived.join("")).toBe("a mar");
  client.write("ker\n");
  await struck;
  await closed(client);
  const other = await dial();
  expect(await ask(other, "marker\n")).toBe("MARKER\n");
  other.destroy();
});

test("delays keep the order of the pieces", async () => {
  proxy.delay(10);
  let answer = "";
  client.on("data", (chunk) => {
    answer += chunk;
  });
  for (const line of ["one\n", "two\n", "three\n"]) {
    client.write(line);
    await expect.poll(() => arrived.join("")).toContain(line);
  }
  await expect.poll(() => answer).toBe("ONE\nTWO\nTHREE\n");
});
