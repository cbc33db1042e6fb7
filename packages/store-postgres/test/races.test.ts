import { randomUUID } from "node:crypto";
import {
  appendUntilDone,
  expectAppendsToLand,
  expectWholeUpdates,
  message,
  messages,
  update,
} from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, untilWaiting, withClient } from "./support.ts";

const ttlMs = 3_600_000;

describe.each(["read committed", "repeatable read", "serializable"])(
  "where the default isolation is %s",
  (isolation) => {
    let url: string;
    let pools: pg.Pool[];
    let stores: PostgresStore[];
    let one: PostgresStore;
    let other: PostgresStore;

    beforeAll(async () => {
      url = await newDatabase();
      await withClient(url, (client) =>
        client.query(
          `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = '${isolation}'`,
        ),
      );
      pools = [1, 2].map(() => openPool(url, { max: 8 }));
      stores = pools.map((client) => postgresStore({ client, ttlMs }));
      [one, other] = stores as [PostgresStore, PostgresStore];
      await Promise.all([...stores, ...stores].map((store) => store.migrate()));
      const shown = await pools[0]?.query("show default_transaction_isolation");
      expect(shown?.rows).toEqual([{ default_transaction_isolation: isolation }]);
    });
    afterAll(() => Promise.all(pools.map((pool) => pool.end())));

    async function orphans(): Promise<number> {
      const found = await pools[0]?.query(
        "select from turnkeep_messages m where not exists (select from turnkeep_memories h where h.memory_key = m.memory_key)",
      );
      return found?.rowCount ?? -1;
    }

    /**
     * Holds the row of a memory, so that calls wait behind it, until so many do; then lets them go.
     * `meanwhile` runs while they wait.
     */
    async function whileHeld(
      memoryId: string,
      waiting: number,
      start: () => Promise<unknown>,
      meanwhile: (holder: pg.Client) => Promise<unknown> = async () => {},
    ): Promise<unknown> {
      return withClient(url, async (holder) => {
        await holder.query("begin isolation level read committed");
        await holder.query("select from turnkeep_memories where memory_id = $1 for update", [memoryId]);
        const started = start();
        // Whoever awaits the result sees its failure; until then it must not count as unhandled.
        started.catch(() => {});
        await withClient(url, (watcher) => untilWaiting(watcher, waiting));
        await meanwhile(holder);
        await holder.query("commit");
        return started;
      });
    }

    test("64 concurrent optimistic appends over two pools all land, once and in one order", async () => {
      const memoryId = randomUUID();
      await expectAppendsToLand(one, other, memoryId, 64);
    }, 120_000);

    test("of many who begin a memory, one does", async () => {
      const memoryId = randomUUID();
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [message(1)] })),
        ),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "VERSION_CONFLICT" });
      }
      expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
    });

    test("readers meet all of an update or none", () =>
      expectWholeUpdates(one, other, { updates: 50, to: "removed" }));

    test("of many who begin an expired memory anew, one does, and nothing of the old life shows", async () => {
      const memoryId = randomUUID();
      await one.updateMessages(
        memoryId,
        update(null, 4, { head: "1", owner: "old", append: messages(1, 3) }),
      );
      await pools[0]?.query("update turnkeep_memories set expires_at = now() where memory_id = $1", [
        memoryId,
      ]);
      const again = { ...message(1), id: "new life" };
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
        ),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
      expect(await other.getMessages(memoryId)).not.toHaveProperty("owner");
      expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
    });

    test("a replay that waits behind its original succeeds and adds nothing", async () => {
      const memoryId = randomUUID();
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      const append = update(begin.version, 3, { append: [message(2)], move: [{ seq: 1, to: "evicted" }] });
      await whileHeld(memoryId, 2, () =>
        Promise.all([one.updateMessages(memoryId, append), other.updateMessages(memoryId, append)]),
      );
      expect((await one.getHistory(memoryId, {})).messages.map(({ seq, state }) => [seq, state])).toEqual([
        [1, "evicted"],
        [2, "live"],
      ]);
    });

    test("an append that waits behind another commit is a conflict", async () => {
      const memoryId = randomUUID();
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      const append = update(begin.version, 3, { append: [message(2)] });
      const call = whileHeld(
        memoryId,
        1,
        () => one.updateMessages(memoryId, append),
        (holder) =>
          holder.query("update turnkeep_memories set version = 'theirs' where memory_id = $1", [memoryId]),
      );
      await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT", details: { memoryId } });
      expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
    });

    test("an update that waits past its memory's end counts from when it came, before who begins it anew", async () => {
      const memoryId = randomUUID();
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      // Long enough that the update comes before it.
      const end = await pools[0]?.query(
        "update turnkeep_memories set expires_at = now() + interval '10 seconds' where memory_id = $1 returning expires_at",
        [memoryId],
      );
      const anew: Promise<void>[] = [];
      await whileHeld(
        memoryId,
        1,
        () => one.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] })),
        async () => {
          const read = async () => (await other.getMessages(memoryId)).version;
          await expect.poll(read, { interval: 100, timeout: 60_000 }).toBeNull();
          anew.push(other.updateMessages(memoryId, update(null, 2, { append: [message(1)] })));
          anew[0]?.catch(() => {});
          await withClient(url, (watcher) => untilWaiting(watcher, 2));
        },
      );
      await expect(anew[0]).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
      expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 3, messages: messages(1, 2) });
      // Until no later than if nobody had been in its way.
      const prolonged = await pools[0]?.query(
        "select from turnkeep_memories where memory_id = $1 and expires_at < $2::timestamptz + $3 * interval '1 millisecond'",
        [memoryId, end?.rows[0].expires_at, ttlMs],
      );
      expect(prolonged?.rowCount).toBe(1);
    });

    test("an append and a delete that meet leave all or nothing, and no orphan", async () => {
      const memoryId = randomUUID();
      const begin = update(null, 3, { append: messages(1, 2) });
      await one.updateMessages(memoryId, begin);
      const append = update(begin.version, 4, { append: [message(3)] });
      const results = (await whileHeld(memoryId, 2, () =>
        Promise.allSettled([other.deleteMessages(memoryId), one.updateMessages(memoryId, append)]),
      )) as PromiseSettledResult<void>[];
      expect(results[0]).toEqual({ status: "fulfilled", value: undefined });
      if (results[1]?.status === "rejected") {
        expect(results[1].reason).toMatchObject({ code: "VERSION_CONFLICT" });
      }
      expect(await one.getMessages(memoryId)).toEqual({ version: null, nextSeq: 1, messages: [] });
      expect(await orphans()).toBe(0);
    });

    test("deletes racing appends, many times, leave no orphan and no half of a memory", async () => {
      const memoryId = randomUUID();
      const writers = Array.from({ length: 40 }, (_, index) =>
        appendUntilDone(index % 2 === 0 ? one : other, memoryId, `message ${index}`),
      );
      const deleters = Array.from({ length: 15 }, () => other.deleteMessages(memoryId));
      await Promise.all([...writers, ...deleters]);
      const { messages: seen, nextSeq } = await one.getMessages(memoryId);
      expect(seen.map(({ seq }) => seq)).toEqual(
        Array.from({ length: nextSeq - 1 }, (_, index) => index + 1),
      );
      expect(await orphans()).toBe(0);
    });

    test("a connection killed in the middle of a write: nothing was written, and the same update then lands", async () => {
      const memoryId = randomUUID();
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      const append = update(begin.version, 4, {
        append: messages(2, 3),
        move: [{ seq: 1, to: "superseded" }],
      });
      const before = await one.getMessages(memoryId);
      const own = postgresStore({ url });
      const call = whileHeld(
        memoryId,
        1,
        () => own.updateMessages(memoryId, append),
        (holder) =>
          holder.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
      );
      await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await one.getMessages(memoryId)).toEqual(before);
      await own.updateMessages(memoryId, append);
      await own.close();
      expect((await one.getMessages(memoryId)).messages).toEqual(messages(2, 3));
    });

    test("a sweep does not wait for a memory that another holds", async () => {
      const [held, free] = [randomUUID(), randomUUID()];
      for (const memoryId of [held, free]) {
        await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
      }
      await pools[0]?.query(
        "update turnkeep_memories set expires_at = now(), sweep_at = now() where memory_id in ($1, $2)",
        [held, free],
      );
      await withClient(url, async (holder) => {
        await holder.query("begin isolation level read committed");
        await holder.query("select from turnkeep_memories where memory_id = $1 for update", [held]);
        expect(await one.sweep()).toEqual({ removed: 1 });
        await holder.query("rollback");
      });
      expect(await one.sweep()).toEqual({ removed: 1 });
    });

    test("one sweep removes all that has expired, however much it is", async () => {
      await pools[0]?.query(
        // Those that began last lie first.
        `insert into turnkeep_memories (memory_key, memory_id, version, next_seq, live, updated_at, expires_at)
         overriding system value
         select 1000000 - n, 'expired ' || n, 'v', 1, '{}', now(), now() from generate_series(1, 250) n`,
      );
      expect(await one.sweep()).toEqual({ removed: 250 });
    });

    test("a sweep beside writers removes what has expired and nothing else", async () => {
      const expired = Array.from({ length: 250 }, () => randomUUID());
      const kept = Array.from({ length: 20 }, () => randomUUID());
      for (const memoryId of [...expired, ...kept]) {
        await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
      }
      await pools[0]?.query(
        "update turnkeep_memories set expires_at = now(), sweep_at = now() where memory_id = any ($1)",
        [expired],
      );
      const revived = expired.slice(0, 10);
      const [swept, alsoSwept] = await Promise.all([
        one.sweep(),
        other.sweep(),
        ...kept.map((memoryId) => appendUntilDone(one, memoryId, "second")),
        ...revived.map((memoryId) => appendUntilDone(other, memoryId, "new life")),
      ]);
      const removed = (swept?.removed ?? 0) + (alsoSwept?.removed ?? 0) + (await one.sweep()).removed;
      expect(removed).toBeGreaterThanOrEqual(240);
      expect(removed).toBeLessThanOrEqual(250);
      for (const memoryId of kept) expect((await other.getMessages(memoryId)).messages).toHaveLength(2);
      for (const memoryId of revived) {
        expect((await one.getMessages(memoryId)).messages.map(({ id }) => id)).toEqual(["new life"]);
      }
      const left = await pools[0]?.query("select from turnkeep_memories where memory_id = any ($1)", [
        expired,
      ]);
      expect(left?.rowCount).toBe(revived.length);
      expect(await orphans()).toBe(0);
    });
  },
);
