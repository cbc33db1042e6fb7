import { execFileSync } from "node:child_process";
import type { ChatMemoryStore } from "@turnkeep/core";
import { message, type NetworkProxy, startProxy, update } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import ioredis5 from "ioredis5";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type NodeRedisClient, type RedisClient, redisStore } from "../src/index.ts";
import { scripts } from "../src/scripts.ts";
import { keysOf, newPrefix, rawRead, withClient } from "./support.ts";

const url = inject("redisUrl");
const admin = new Redis(url);
// A script that the server does not know would be sent twice.
beforeAll(async () => {
  for (const { text } of Object.values(scripts)) await admin.script("LOAD", text);
});
afterAll(() => admin.disconnect());

async function newProxy(): Promise<NetworkProxy> {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** As the README gives it. */
const single = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };

type Open = (port: number) => RedisClient | NodeRedisClient | Promise<RedisClient | NodeRedisClient>;

function ioredis(options: object): Open {
  return (port) => {
    const client = new Redis({ port, ...options });
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    return client;
  };
}

const givenClients: [string, Open][] = [
  ["ioredis as in the README", ioredis(single)],
  ["ioredis with its defaults", ioredis({})],
  [
    "the oldest ioredis",
    (port) => {
      const client = new ioredis5.default({ port, ...single });
      client.on("error", () => {});
      onTestFinished(() => client.disconnect());
      return client;
    },
  ],
  [
    "node-redis 6",
    async (port) => {
      const client = createClient({ socket: { port } });
      client.on("error", () => {});
      await client.connect();
      onTestFinished(() => client.destroy());
      return client;
    },
  ],
  [
    "node-redis 4",
    async (port) => {
      const client = createClient4({ socket: { port } });
      client.on("error", () => {});
      await client.connect();
      onTestFinished(() => void client.disconnect());
      return client;
    },
  ],
];

describe("a connection on which nothing comes back any more, though new ones would work", () => {
  async function outcomes(call: () => Promise<unknown>, count: number): Promise<string[]> {
    const seen: string[] = [];
    for (let n = 0; n < count; n++) {
      const outcome = call().then(
        () => "ok",
        (error: { code: string }) => error.code,
      );
      seen.push(await outcome);
    }
    return seen;
  }

  test("is given up by a client of the store after the first call that its time-out ends", async () => {
    const proxy = await newProxy();
    const config = { host: "127.0.0.1", port: proxy.port, commandTimeout: 1_500 };
    const store = redisStore({ config, prefix: newPrefix() });
    onTestFinished(() => store.close());
    await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
    // The first read asks two things at once: where one is given up, the other is sent again and served.
    await store.getMessages("a");
    proxy.forget();
    expect(await outcomes(() => store.getMessages("a"), 4)).toEqual(["STORE_UNAVAILABLE", "ok", "ok", "ok"]);
  });

  test.each(givenClients)("is given up by %s after a call that its signal ends", async (_name, open) => {
    const proxy = await newProxy();
    const store = redisStore({ client: await open(proxy.port), prefix: newPrefix() });
    await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
    proxy.forget();
    const silent = new AbortController();
    const call = store.getMessages("a", silent).catch((error: { code: string }) => error.code);
    silent.abort();
    expect(await call).toBe("ABORTED");
    // It may take a second to tell a dead connection from a slow answer; nobody's call takes longer.
    const read = () => store.getMessages("a", { signal: AbortSignal.timeout(20_000) });
    expect(await outcomes(read, 3)).toEqual(["ok", "ok", "ok"]);
  });

  test("is left alone where the answer came soon after nobody waited for it", async () => {
    const client = new Redis(url, single);
    onTestFinished(() => client.disconnect());
    const store = redisStore({ client, prefix: newPrefix() });
    await store.getMessages("a");
    const { stream } = client;
    for (let n = 0; n < 20; n++) {
      const given = new AbortController();
      const call = store
        .getMessages("a", { signal: given.signal })
        .catch((error: { code: string }) => error.code);
      given.abort();
      expect(await call).toBe("ABORTED");
    }
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await store.getMessages("a");
    expect(client.stream).toBe(stream);
  });

  test("is left alone while it waits for replicas, whoever gives up meanwhile", async () => {
    const client = new Redis(url, single);
    onTestFinished(() => client.disconnect());
    const waitReplicas = { count: 1, timeoutMs: 2_500 };
    const sent = vi.spyOn(client, "call");
    const store = redisStore({ client, prefix: newPrefix(), waitReplicas });
    await store.getMessages("a");
    const { stream } = client;
    const given = new AbortController();
    const write = store.updateMessages("a", update(null, 2, { append: [message(1)] }));
    write.catch(() => {});
    await expect.poll(() => sent.mock.lastCall?.[0]).toBe("wait");
    const read = store.getMessages("a", { signal: given.signal });
    given.abort();
    expect(await read.catch((error: { code: string }) => error.code)).toBe("ABORTED");
    const { cause } = await write.then(
      () => ({ cause: undefined }),
      (error: Error) => error,
    );
    expect(String(cause)).toContain("0 of 1 replicas");
    expect(client.stream).toBe(stream);
  });

  test("is not made anew by a client of node-redis that its owner is closing", async () => {
    const proxy = await newProxy();
    const client = createClient({ socket: { port: proxy.port } });
    client.on("error", () => {});
    await client.connect();
    const store = redisStore({ client, prefix: newPrefix() });
    await store.getMessages("a");
    proxy.forget();
    const given = new AbortController();
    const read = store.getMessages("a", { signal: given.signal }).catch(() => {});
    given.abort();
    await read;
    // It waits for the answer, which never comes.
    client.close().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(client.isOpen).toBe(false);
  });
});

describe("a read on a connection that died while nobody used it", () => {
  /** As of a function that is frozen between two requests: this process sees nothing of what happens meanwhile. */
  function killWhileFrozen(id: number): void {
    const { port } = new URL(url);
    const program =
      `const s=require("net").connect(${port},"127.0.0.1",()=>s.write("CLIENT KILL ID ${id}\\r\\n"));` +
      `s.once("data",()=>setTimeout(()=>process.exit(),50))`;
    execFileSync(process.execPath, ["-e", program]);
  }

  async function idOf(name: string): Promise<number> {
    const list = String(await admin.client("LIST"));
    return Number(new RegExp(`id=(\\d+) .* name=${name} `).exec(list)?.[1]);
  }

  test.each(["getMessages", "getHistory", "listMemories", "deleteMessages"] as const)(
    "%s of a client of the store is sent again, once",
    async (call) => {
      const connectionName = `frozen-${call}-${process.pid}`;
      const config = { port: Number(new URL(url).port), connectionName };
      const store = redisStore({ config, prefix: newPrefix() });
      onTestFinished(() => store.close());
      await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
      for (let n = 0; n < 3; n++) {
        killWhileFrozen(await idOf(connectionName));
        if (call === "listMemories") await store.listMemories({});
        else if (call === "getHistory") await store.getHistory("a", {});
        else await store[call]("a");
      }
    },
  );

  test.each(givenClients)("is sent again, once, by %s", async (_name, open) => {
    const client = await open(Number(new URL(url).port));
    const store = redisStore({ client, prefix: newPrefix() });
    await store.getMessages("a");
    const id = Number(
      await ("call" in client ? client.call("client", ["id"]) : client.sendCommand(["client", "id"])),
    );
    killWhileFrozen(id);
    expect((await store.getMessages("a")).version).toBeNull();
  });

  test("a write is not: whether it took place is open", async () => {
    const proxy = await newProxy();
    const store = redisStore({ url: proxy.through(url), prefix: newPrefix() });
    onTestFinished(() => store.close());
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("a", begin);
    const next = update(begin.version, 3, { append: [message(2, '"turnkeep-lost"')] });
    const struck = proxy.strike("turnkeep-lost", "drop-reply");
    await expect(store.updateMessages("a", next)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await struck;
    expect((await store.getMessages("a")).version).toBe(next.version);
  });
});

describe("a write whose answer was lost, which the driver sends again by itself", () => {
  const prefix = newPrefix();
  const other = redisStore({ client: admin, prefix });

  /** Loses the answer to a write, lets others act, and only then the driver learn of it. */
  async function resent(
    write: (store: ChatMemoryStore) => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
    options: object = {},
  ): Promise<unknown> {
    const proxy = await newProxy();
    const client = new Redis({ port: proxy.port, ...options });
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    const store = redisStore({ client, prefix });
    await store.getMessages("none");
    const struck = proxy.strike("turnkeep-lost", "drop-reply", meanwhile);
    const outcome = await write(store).then(
      () => "done",
      (error: { code: string }) => error.code,
    );
    await struck;
    return outcome;
  }
  const lost = (seq: number) => message(seq, '"turnkeep-lost"');

  test("is one write if nobody wrote in between", async () => {
    const begin = update(null, 2, { append: [lost(1)] });
    expect(
      await resent(
        (store) => store.updateMessages("alone", begin),
        async () => {},
      ),
    ).toBe("done");
    expect((await other.getMessages("alone")).messages).toEqual([lost(1)]);
    const next = update(begin.version, 3, { append: [lost(2)] });
    expect(
      await resent(
        (store) => store.updateMessages("alone", next),
        async () => {},
      ),
    ).toBe("done");
    expect((await other.getMessages("alone")).messages).toEqual([lost(1), lost(2)]);
  });

  test("of a message that was removed meanwhile is open, not a conflict, and the message stays away", async () => {
    const begin = update(null, 2, { append: [message(1)] });
    await other.updateMessages("removed", begin);
    const add = update(begin.version, 3, { append: [lost(2)] });
    const remove = update(add.version, 3, { move: [{ seq: 2, to: "removed" }] });
    const outcome = await resent(
      (store) => store.updateMessages("removed", add),
      () => other.updateMessages("removed", remove),
    );
    expect(outcome).toBe("STORE_UNAVAILABLE");
    expect((await other.getMessages("removed")).messages).toEqual([message(1)]);
  });

  test.each(["cleared", "cleared and begun anew"])("of a beginning that was %s stays away", async (what) => {
    const begin = update(null, 2, { owner: "o", append: [lost(1)] });
    const again = update(null, 2, { owner: "o", append: [message(1, '"new life"')] });
    const outcome = await resent(
      (store) => store.updateMessages(what, begin),
      async () => {
        await other.deleteMessages(what);
        if (what !== "cleared") await other.updateMessages(what, again);
      },
    );
    expect(outcome).toBe("STORE_UNAVAILABLE");
    const left = await rawRead(admin, prefix, what);
    expect(left.join()).not.toContain("turnkeep-lost");
    if (what === "cleared") expect([left, await keysOf(admin, prefix, what)]).toEqual([[], []]);
    else expect((await other.getMessages(what)).messages).toEqual(again.append);
  });

  test("that is refused the second time is open, not refused for certain", async () => {
    const username = `turnkeep-${process.pid}`;
    await admin.call("acl", ["setuser", username, "on", "nopass", "~*", "+@all"]);
    onTestFinished(() => void admin.call("acl", ["deluser", username]).catch(() => {}));
    const begin = update(null, 2, { append: [message(1)] });
    await other.updateMessages("refused", begin);
    const next = update(begin.version, 3, { append: [lost(2)] });
    const outcome = await resent(
      (store) => store.updateMessages("refused", next),
      () => admin.call("acl", ["setuser", username, "-evalsha", "-eval"]),
      { username, password: "any" },
    );
    expect(outcome).toBe("STORE_UNAVAILABLE");
    expect((await other.getMessages("refused")).version).toBe(next.version);
  });

  test("a conflict on a connection that lasts stays one, also of a driver that would send again", async () => {
    await withClient(url, async (client) => {
      const store = redisStore({ client, prefix });
      const begin = update(null, 2, { append: [message(1)] });
      await store.updateMessages("lasts", begin);
      for (const change of [update(null, 3), update("another", 3, { append: [message(2)] })]) {
        await expect(store.updateMessages("lasts", change)).rejects.toMatchObject({
          code: "VERSION_CONFLICT",
        });
      }
    });
  });

  test("where the driver does not send again, nothing comes back and the outcome is open", async () => {
    const begin = update(null, 2, { append: [lost(1)] });
    const outcome = await resent(
      (store) => store.updateMessages("single", begin),
      () => other.deleteMessages("single"),
      single,
    );
    expect(outcome).toBe("STORE_UNAVAILABLE");
    expect(await keysOf(admin, prefix, "single")).toEqual([]);
  });
});
