import { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { createChatMemory, user } from "@turnkeep/core";
import { type PostgresServer, startPostgres } from "@turnkeep/servers";
import {
  describeUnanswered,
  expectGivesUpAfter,
  failure,
  message,
  said,
  until,
  update,
} from "@turnkeep/store-tests";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, untilWaiting, withClient } from "./support.ts";

let url: string;
let watcher: pg.Client;

beforeAll(async () => {
  url = await newDatabase();
  watcher = new pg.Client({ connectionString: url });
  await watcher.connect();
  const store = postgresStore({ url });
  await store.migrate();
  await store.close();
});
afterAll(() => watcher.end());

/** How many connections to the database there are, beside the one that asks. */
async function connections(): Promise<number> {
  const found = await watcher.query(
    "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  return found.rowCount ?? -1;
}

describe("a client that was given", () => {
  test("a pool and a client stay open when the store closes", async () => {
    const pool = openPool(url);
    const listeners = pool.listenerCount("error");
    const store = postgresStore({ client: pool });
    await store.updateMessages("pool", update(null, 2, { append: [message(1)] }));
    await store.close();
    expect(pool.listenerCount("error")).toBe(listeners);
    await expect(store.getMessages("pool")).rejects.toMatchObject({ code: "CLOSED" });
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();

    await withClient(url, async (client) => {
      const single = postgresStore({ client });
      expect((await single.getMessages("pool")).messages).toEqual([message(1)]);
      await single.close();
      expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    });
  });

  test("a single client is given one statement at a time, and none that nobody waits for any more", async () => {
    await withClient(url, async (client) => {
      let underWay = 0;
      const sent: number[] = [];
      const counting = new Proxy(client, {
        get: (target, name) =>
          name !== "query"
            ? Reflect.get(target, name)
            : async (...args: [string, string[]]) => {
                sent.push(++underWay);
                return target.query(...args).finally(() => underWay--);
              },
      });
      const store = postgresStore({ client: counting });
      const controller = new AbortController();
      const calls = [1, 2, 3].map((n) => store.getMessages(`single ${n}`));
      const gone = store.getMessages("gone", { signal: controller.signal });
      controller.abort();
      await expect(gone).rejects.toMatchObject({ code: "ABORTED" });
      await Promise.all(calls);
      await store.getMessages("single 4");
      expect(sent).toEqual([1, 1, 1, 1]);
    });
  });

  test("its own rules for types do not matter", async () => {
    const types = {
      getTypeParser: (oid: number) => (value: string) =>
        oid === pg.types.builtins.TEXT ? value : { oid, value },
    };
    const pool = openPool(url, { types: types as never });
    expect((await pool.query("select 1::bigint as one")).rows).toEqual([{ one: { oid: 20, value: "1" } }]);
    const store = postgresStore({ client: pool, ttlMs: 3_600_000 });
    const begin = update(null, 3, { owner: "o", head: "{}", append: [message(1), message(2)] });
    await store.updateMessages("types", begin);
    await store.updateMessages("types", update(begin.version, 3, { move: [{ seq: 1, to: "evicted" }] }));
    expect(await store.getMessages("types")).toMatchObject({
      nextSeq: 3,
      owner: "o",
      messages: [message(2)],
    });
    expect((await store.getHistory("types", {})).messages[0]).toEqual({ ...message(1), state: "evicted" });
    const { memories } = await store.listMemories({ owner: "o" });
    expect(memories).toEqual([{ memoryId: "types", owner: "o", updatedAt: expect.any(Number) }]);
    expect(await store.sweep()).toEqual({ removed: 0 });
    await pool.end();
  });

  test("that does not count what it has changed is refused before it writes", async () => {
    const pool = openPool(url);
    const client = {
      query: async (text: string, values?: (string | null)[]) => ({
        rows: (await pool.query(text, values)).rows,
      }),
    };
    const store = postgresStore({ client });
    const memory = createChatMemory({ id: "uncounted", store });
    await expect(memory.add(user("Hello"))).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("rowCount"),
    });
    expect((await postgresStore({ client: pool }).getMessages("uncounted")).version).toBeNull();
    await pool.end();
  });

  describe("that is refused for what others do at the same time", () => {
    /** Refuses so many statements with that code before it passes them on. */
    function refusing(code: string, times: number, pool: pg.Pool) {
      const client = {
        refused: 0,
        async query(text: string, values?: (string | null)[]) {
          if (client.refused === times) return pool.query(text, values);
          client.refused++;
          throw Object.assign(new Error("refused"), { code });
        },
      };
      return client;
    }

    test.each(["40001", "40P01"])("is asked again, but not for ever (%s)", async (code) => {
      const pool = openPool(url);
      const client = refusing(code, 3, pool);
      const begin = update(null, 2, { append: [message(1)] });
      await postgresStore({ client }).updateMessages(code, begin);
      expect(client.refused).toBe(3);
      expect((await postgresStore({ client: pool }).getMessages(code)).version).toBe(begin.version);
      const never = postgresStore({ client: refusing(code, 1_000, pool) });
      await expect(never.getMessages(code)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { code },
      });
      await pool.end();
    });

    test.each([
      ...["40003", "57P01", "57P02", "08006", "08P01", "58030", "XX000", "ECONNRESET"].map(
        (code) => [code, "STORE_UNAVAILABLE", "is open"] as const,
      ),
      ...["53300", "53100", "57P03", "57014", "55P03", "25P04", "ECONNREFUSED", "EAI_AGAIN"].map(
        (code) => [code, "STORE_UNAVAILABLE", "Nothing was written"] as const,
      ),
      ...[
        "25006",
        "42501",
        "25P02",
        "3D000",
        "28000",
        "28P01",
        "22P05",
        "23514",
        "42883",
        "54000",
        "P0001",
      ].map((code) => [code, "STORE_REFUSED", "Nothing was written"] as const),
      ["ENOTFOUND", "STORE_REFUSED", "Nothing was written"],
      ["SELF_SIGNED_CERT_IN_CHAIN", "STORE_REFUSED", "Nothing was written"],
    ] as const)(
      "in another way (%s) is %s at once, and says that what was written %s",
      async (code, expected, outcome) => {
        const pool = openPool(url);
        const begin = update(null, 2, { append: [message(1)] });
        for (const call of [
          (store: PostgresStore) => store.getMessages(code),
          (store: PostgresStore) => store.updateMessages(code, begin),
          (store: PostgresStore) => store.deleteMessages(code),
        ]) {
          const client = refusing(code, 2, pool);
          await expect(call(postgresStore({ client }))).rejects.toMatchObject({
            code: expected,
            message: expect.stringContaining(outcome),
            cause: { code },
          });
          expect(client.refused).toBe(1);
        }
        await pool.end();
      },
    );

    test.each(["26000", "42P05", "0A000"])(
      "is not asked again for a name that it was not given (%s)",
      async (code) => {
        const pool = openPool(url);
        const client = refusing(code, 1, pool);
        await expect(postgresStore({ client }).getMessages(code)).rejects.toMatchObject({
          code: "STORE_REFUSED",
          cause: { code },
        });
        await pool.end();
      },
    );

    test.each(["40001", "26000"])("is not asked again by who has gone (%s)", async (code) => {
      const pool = openPool(url);
      const controller = new AbortController();
      const client = refusing(code, 3, pool);
      // As of a pool, which is given statements with names.
      const connection = Object.assign(new EventEmitter(), {
        query(statement: pg.QueryConfig) {
          controller.abort();
          return client.query(statement.text, statement.values);
        },
        release() {},
      });
      const aborting = Object.assign(new EventEmitter(), {
        totalCount: 1,
        idleCount: 1,
        connect: async () => connection,
        query: async () => expect.unreachable(),
      });
      const begin = update(null, 2, { append: [message(1)] });
      const options = { signal: controller.signal };
      const store = postgresStore({ client: aborting });
      await expect(store.updateMessages("gone", begin, options)).rejects.toMatchObject({ code: "ABORTED" });
      await store.close();
      expect(client.refused).toBe(1);
      await pool.end();
    });
  });

  test("a statement that hangs does not hold a caller whose signal fires", async () => {
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      const pool = openPool(url);
      const controller = new AbortController();
      const call = postgresStore({ client: pool }).getMessages("a", { signal: controller.signal });
      await untilWaiting(watcher, 1);
      controller.abort(new Error("enough"));
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      await holder.query("rollback");
      await pool.end();
    });
  });
});

/** What has the driver open its connections by these sockets. */
function overSockets(): { readonly sockets: Socket[]; readonly stream: () => Socket } {
  const sockets: Socket[] = [];
  return { sockets, stream: () => sockets[sockets.push(new Socket()) - 1] as Socket };
}

describe("a pool that the store opened", () => {
  test("is closed by the store", async () => {
    const store = postgresStore({ config: { connectionString: url, max: 3 } });
    await Promise.all(Array.from({ length: 9 }, () => store.getMessages("a")));
    expect(await connections()).toBe(3);
    await store.close();
    await until(async () => (await connections()) === 0);
  });

  test("serves those who wait for a connection before it closes", async () => {
    const store = postgresStore({ config: { connectionString: url, max: 1, connectionTimeoutMillis: 0 } });
    const calls = Array.from({ length: 5 }, () => store.getMessages("a"));
    await store.close();
    expect(await Promise.all(calls)).toHaveLength(5);
  });

  test("outlives connections that break while idle", async () => {
    const store = postgresStore({ url });
    await store.getMessages("a");
    await watcher.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await until(async () => (await connections()) === 0);
    // The pool may not have heard of it yet: then the call fails, says so, and the next one is served.
    const first = await store.getMessages("a").catch((error: unknown) => error);
    if (first instanceof Error) expect(first).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await store.getMessages("a")).version).toBeNull();
    await store.close();
  });

  test("outlives a connection that breaks under a statement", async () => {
    const { sockets, stream } = overSockets();
    const store = postgresStore({ config: { connectionString: url, stream } });
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      const call = store.getMessages("a");
      await untilWaiting(watcher, 1);
      for (const socket of sockets) socket.destroy();
      await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await holder.query("rollback");
    });
    expect((await store.getMessages("a")).version).toBeNull();
    await store.close();
  });

  test.each(["a beginning", "an append", "a read"])("sends %s in full once a connection", async (what) => {
    const { sockets, stream } = overSockets();
    const store = postgresStore({ config: { connectionString: url, max: 1, stream } });
    await store.listMemories({});
    async function sent(memoryId: string): Promise<number> {
      const begin = update(null, 2, { append: [message(1)] });
      const append = update(begin.version, 3, { append: [message(2)] });
      const calls = {
        "a beginning": () => store.updateMessages(memoryId, begin),
        "an append": () => store.updateMessages(memoryId, append),
        "a read": () => store.getMessages(memoryId),
      };
      if (what === "an append") await calls["a beginning"]();
      const before = sockets[0]?.bytesWritten ?? 0;
      await calls[what as keyof typeof calls]();
      return (sockets[0]?.bytesWritten ?? 0) - before;
    }
    const first = await sent(`${what} 1`);
    expect(await sent(`${what} 2`)).toBeLessThan(first / 2);
    expect(sockets).toHaveLength(1);
    await store.close();
  });

  test.each([
    ["10 seconds", 10_000, {}],
    ["what its config says", 3_000, { connectionTimeoutMillis: 3_000 }],
  ] as const)("gives up connecting after %s", (_what, ms, over) =>
    expectGivesUpAfter(ms, (port) =>
      postgresStore({ config: { connectionString: `postgres://app@127.0.0.1:${port}/chat`, ...over } }),
    ),
  );

  test("gives up the connection of a statement that nobody waits for any more", async () => {
    const store = postgresStore({ config: { connectionString: url, max: 1 } });
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      const controller = new AbortController();
      const update1 = update(null, 2, { append: [message(1)] });
      const call = store.updateMessages("hung", update1, { signal: controller.signal });
      await untilWaiting(watcher, 1);
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      // The only place in the pool is free again, though the statement still hangs in the database.
      const next = new AbortController();
      const waits = store.getMessages("hung", { signal: next.signal });
      await untilWaiting(watcher, 2);
      next.abort();
      await expect(waits).rejects.toMatchObject({ code: "ABORTED" });
      await holder.query("rollback");
    });
    await store.close();
  });

  test("sends nothing for who no longer waits for a connection, and has it free for the next", async () => {
    const store = postgresStore({ config: { connectionString: url, max: 1 } });
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      const first = store.getMessages("unsent");
      await untilWaiting(watcher, 1);
      const controller = new AbortController();
      const begin = update(null, 2, { append: [message(1)] });
      const second = store.updateMessages("unsent", begin, { signal: controller.signal });
      controller.abort();
      await expect(second).rejects.toMatchObject({ code: "ABORTED" });
      await holder.query("rollback");
      await first;
    });
    expect((await store.getMessages("unsent")).version).toBeNull();
    await store.close();
  });

  test("keeps the connection of a call whose signal fires when it is done", async () => {
    const store = postgresStore({ config: { connectionString: url, max: 1 } });
    const controller = new AbortController();
    await store.getMessages("a", { signal: controller.signal });
    const pid =
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    const before = (await watcher.query(pid)).rows;
    expect(before).toHaveLength(1);
    controller.abort();
    await store.getMessages("a");
    expect((await watcher.query(pid)).rows).toEqual(before);
    await store.close();
  });

  test("gives up a connection to a server that has become read-only, as after a failover", async () => {
    const { sockets, stream } = overSockets();
    const options = "-c default_transaction_read_only=on";
    const store = postgresStore({ config: { connectionString: url, max: 1, stream, options } });
    const begin = update(null, 2, { append: [message(1)] });
    for (const connections of [1, 2]) {
      await expect(store.updateMessages("read-only", begin)).rejects.toMatchObject({
        code: "STORE_REFUSED",
        message: expect.stringContaining("read-only"),
        cause: { code: "25006" },
      });
      expect(sockets).toHaveLength(connections);
    }
    await store.close();
  });

  test("need not have been made for the store to close", async () => {
    const config = {
      get password(): string {
        throw new Error("no password can be read");
      },
    };
    const store = postgresStore({ config });
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
  });

  test("gives up the connection of a statement for which the driver ran out of time", async () => {
    const config = { connectionString: url, max: 1, query_timeout: 200 };
    const store = postgresStore({ config });
    await withClient(url, async (holder) => {
      await holder.query("begin; lock table turnkeep_memories");
      await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      // The only place in the pool is free again: this needs none of the locked rows.
      await store.migrate();
      await holder.query("rollback");
    });
    await store.close();
  });
});

describeUnanswered((port, giveUpAfterMs) => {
  const connectionString = `postgres://app:s3cret@127.0.0.1:${port}/chat`;
  return postgresStore({ config: { connectionString, connectionTimeoutMillis: giveUpAfterMs } });
});

describe("a server that refuses", () => {
  let server: PostgresServer;

  // One of its own, since it gets another configuration and is stopped.
  beforeAll(async () => {
    server = await startPostgres({ sources: ["docker", "machine", "cache"] });
  });
  afterAll(() => server.stop());

  /** What a store at that address fails with. */
  async function failureAt(address: string): Promise<unknown> {
    const store = postgresStore({ url: address });
    const error = await failure(() => store.getMessages("a"));
    await store.close();
    return error;
  }

  test("a wrong password is STORE_REFUSED, and no password shows anywhere", async () => {
    const address = new URL(server.url);
    address.username = "app";
    address.password = "s3cret";
    await withClient(server.url, async (client) => {
      await client.query("create role app login password 'r1ght'");
      await client.query(`do $$ begin
        execute format('copy (values (%L), (%L)) to %L',
          'host all app all scram-sha-256', 'host all all all trust', current_setting('hba_file'));
      end $$`);
      await client.query("select pg_reload_conf()");
    });
    await until(() =>
      withClient(address.href, async () => false).catch((error: { code?: string }) => error.code === "28P01"),
    );
    const error = await failureAt(address.href);
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: "28P01" } });
    expect(said(error)).not.toMatch(/s3cret|r1ght/);
  });

  test("so is a database that is not there", async () => {
    const address = new URL(server.url);
    address.pathname = "/none";
    expect(await failureAt(address.href)).toMatchObject({
      code: "STORE_REFUSED",
      cause: { code: "3D000" },
    });
  });

  test("and a host that is not there", async () => {
    const address = new URL(server.url);
    // No name under it is ever given to anybody.
    address.hostname = "postgres.invalid";
    const error = await failureAt(address.href);
    // Where no name server answers, nobody knows.
    const { code } = (error as { cause: { code: string } }).cause;
    expect(error).toMatchObject({ code: code === "EAI_AGAIN" ? "STORE_UNAVAILABLE" : "STORE_REFUSED" });
  });

  test("a server that stops while it is used, and one that has stopped, is STORE_UNAVAILABLE", async () => {
    const store = postgresStore({ url: server.url });
    await store.migrate();
    await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
    await server.stop();
    const payload = JSON.stringify("private words");
    const append = update("v", 3, { append: [message(2, payload)] });
    for (const call of [
      () => store.getMessages("a"),
      () => store.updateMessages("a", append),
      () => store.migrate(),
    ]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(said(error)).not.toContain("private words");
    }
    await store.close();
  });
});
