import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ChatMemory,
  createChatMemory,
  entry,
  isTurnkeepError,
  type ModelMessage,
  user,
} from "@turnkeep/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findFault } from "./checker.ts";
import { historyOf } from "./history.ts";
import { now, type Operation, OperationLog, type RecordedMemory, recorded, textOf } from "./operations.ts";
import { bundled, startWriter } from "./processes.ts";
import { type NetworkFault, type NetworkProxy, startProxy } from "./proxy.ts";
import type { DurableServer, StoreTarget } from "./target.ts";
import { message, update } from "./updates.ts";

/** How many adds each of two clients makes in a test. */
const adds = process.env.TURNKEEP_THOROUGH ? 30 : 12;

/** How many adds each of two clients has made when the server is killed; what else is written before and after goes by it. */
const share = process.env.TURNKEEP_THOROUGH ? 50 : 12;

/** Time for a memory that is not to run out of it, on the slowest machine; the test's own bound is close behind it. */
const patienceMs = 100_000;

/** How a write may end when its time is up: nobody answered, or on a busy machine others were always faster. */
const timeIsUp = ["STORE_UNAVAILABLE", "VERSION_CONFLICT"] as const;

/**
 * Registers the tests of what goes wrong on the way to a real server and in it. Each records the operations of all
 * clients and looks for an order that explains them: every acknowledged add is there exactly once and in order, every
 * other at most once, and what was removed stays away.
 */
export function describeFaults(target: StoreTarget): void {
  describe(`${target.name}: faults`, () => {
    let server: DurableServer;
    let proxy: NetworkProxy;

    beforeAll(async () => {
      server = await target.start();
      await (await target.openStore(server.url)).close();
    });
    afterAll(() => server.stop());

    /** A memory with a store of its own, closed when the test is done. */
    async function openMemory(url: string, id: string, timeoutMs: number): Promise<ChatMemory<ModelMessage>> {
      const store = await target.openStore(url);
      onTestFinished(() => store.close());
      return createChatMemory({ id, store, timeoutMs });
    }

    async function newProxy(): Promise<NetworkProxy> {
      const started = await startProxy(server.url);
      onTestFinished(() => started.stop());
      return started;
    }

    async function checkedRead(log: OperationLog, memory: ChatMemory<ModelMessage>): Promise<string[]> {
      const seen = await recorded("last reader", memory, log.record).read();
      expect(findFault(log.operations)).toBeUndefined();
      return seen;
    }

    test.each<[string, NetworkFault]>([
      ["a connection that is reset in the middle of a write", "reset"],
      ["a reply that is lost after the write", "drop-reply"],
    ])("%s", async (_, fault) => {
      proxy = await newProxy();
      const id = randomUUID();
      const log = new OperationLog();
      const direct = await openMemory(server.url, id, patienceMs);
      let struck = 0;

      async function client(name: string): Promise<void> {
        const memory = recorded(
          name,
          await openMemory(proxy.through(server.url), id, patienceMs),
          log.record,
        );
        for (let n = 1; n <= adds; n++) {
          const added = `${name}-${n}.`;
          if (n % 3 === 0) {
            void proxy.strike(textOf(added), fault).then(() => struck++);
          }
          await settled(memory.add(added));
          if (n % 10 === 0) await settled(memory.remove(`${name}-${n - 5}.`));
          await recorded(`reader of ${name}`, direct, log.record).read();
        }
        // After all that, the same memory works.
        await memory.add(`${name}-last.`);
      }
      await Promise.all([client("one"), client("two")]);
      expect(struck).toBe(2 * (adds / 3));
      const seen = await checkedRead(log, direct);
      expect(seen).toEqual(expect.arrayContaining(["one-last.", "two-last."]));
    });

    test("a server that hangs: the call ends when its time is up, and the memory can be used again", async () => {
      proxy = await newProxy();
      const id = randomUUID();
      const log = new OperationLog();
      const memory = await openMemory(proxy.through(server.url), id, 2_000);
      const { add, read } = recorded("one", memory, log.record);
      await recorded("two", await openMemory(server.url, id, patienceMs), log.record).add("before.");
      // Its time may run out on a busy machine before all connections are there; what counts is what follows.
      while (!(await settled(read())));
      const struck = proxy.strike(textOf("hangs."), "hang");
      // Nothing lets go of it before the call ends.
      await expect(add("hangs.")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await struck;
      proxy.release();
      await usableAgain(memory, log, { hasty: true });
      proxy.hang();
      await expect(read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      proxy.release();
      await usableAgain(memory, log, { hasty: true });
      await checkedRead(log, await openMemory(server.url, id, patienceMs));
    });

    test("a server that hangs: the call ends by the caller's signal, and the memory can be used again", async () => {
      proxy = await newProxy();
      const id = randomUUID();
      const log = new OperationLog();
      const memory = await openMemory(proxy.through(server.url), id, patienceMs);
      await recorded("one", memory, log.record).add("before.");

      const controller = new AbortController();
      const struck = proxy.strike(textOf("hangs."), "hang");
      log.record({
        client: "one",
        call: { kind: "add", ids: ["hangs."] },
        invoked: now(),
        returned: undefined,
      });
      const call = memory.transaction(
        (transaction) => transaction.add(entry(user(textOf("hangs.")), { id: "hangs." })),
        { signal: controller.signal },
      );
      await struck;
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });

      proxy.hang();
      const reading = new AbortController();
      const read = memory.messages({ signal: reading.signal });
      reading.abort();
      await expect(read).rejects.toMatchObject({ code: "ABORTED" });
      proxy.release();
      await usableAgain(memory, log);
      await checkedRead(log, await openMemory(server.url, id, patienceMs));
    });

    test("a store that closes ends no call under way, whatever its steps", async () => {
      const store = await target.openStore(server.url);
      const [begun, deleted] = [1, 2].map(() => Array.from({ length: 10 }, () => randomUUID())) as [
        string[],
        string[],
      ];
      const begin = (memoryId: string): Promise<void> =>
        store.updateMessages(memoryId, update(null, 2, { owner: memoryId, append: [message(1)] }));
      await Promise.all(deleted.map(begin));
      const calls = [
        ...begun.map(begin),
        ...deleted.map((memoryId) => store.deleteMessages(memoryId)),
        ...deleted.map((owner) => store.listMemories({ owner })),
      ];
      await Promise.all([...calls, store.close()]);
      const other = await target.openStore(server.url);
      onTestFinished(() => other.close());
      for (const memoryId of begun) {
        expect((await other.getMessages(memoryId)).messages).toEqual([message(1)]);
      }
      for (const memoryId of deleted) expect((await other.getMessages(memoryId)).version).toBeNull();
    });

    test("a slow network: everything lands, in order", async () => {
      proxy = await newProxy();
      const id = randomUUID();
      const log = new OperationLog();
      const clients = await Promise.all(
        ["one", "two"].map(async (name) =>
          recorded(name, await openMemory(proxy.through(server.url), id, patienceMs), log.record),
        ),
      );
      proxy.delay(15);
      await Promise.all(
        clients.map(async ({ add, read }, index) => {
          for (let n = 1; n <= 8; n++) await add(`${index}-${n}.`);
          await read();
        }),
      );
      expect(log.acknowledged).toHaveLength(16);
      expect(await checkedRead(log, await openMemory(server.url, id, patienceMs))).toHaveLength(16);
    });

    test("a server that is killed and started again", async () => {
      const id = randomUUID();
      const log = new OperationLog();
      let restarting: Promise<void> | undefined;
      let failures = 0;
      let killed = 0;

      async function client(name: string): Promise<void> {
        // A call may wait all of its time for an answer that died with the server.
        const memory = recorded(name, await openMemory(server.url, id, 20_000), log.record);
        for (let n = 1; n <= 3 * share; n++) {
          const call = settled(memory.add(`${name}-${n}`), timeIsUp);
          if (n === share && restarting === undefined) {
            killed = now();
            restarting = server.restart();
          }
          if (!(await call)) {
            failures++;
            await restarting;
          }
          if (n % 10 === 0) await settled(memory.remove(`${name}-${n - 5}`), timeIsUp);
          if (n % 5 === 0) await settled(memory.read());
        }
      }
      await Promise.all([client("one"), client("two")]);
      await restarting;
      const memory = await openMemory(server.url, id, patienceMs);
      await usableAgain(memory, log);
      const seen = await recorded("last reader", memory, log.record).read();
      const operations = target.mayForgetLast
        ? withoutForgotten(log.operations, killed, seen)
        : log.operations;
      expect(findFault(operations)).toBeUndefined();
      // What could not be answered meanwhile are a few; everything else was acknowledged.
      expect(log.acknowledged.length).toBeGreaterThanOrEqual(6 * share - failures);
    });

    test("a writing process that is killed in the middle of 1,000 adds", async () => {
      const id = randomUUID();
      const folder = mkdtempSync(join(tmpdir(), "turnkeep-writer-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const program = await bundled(target.writer);
      const task = { url: server.url, memoryId: id };
      const [killedLog, otherLog] = [join(folder, "killed"), join(folder, "other")];
      const other = startWriter(program, { ...task, client: "other", adds: 2 * share, log: otherLog });
      const killed = startWriter(program, { ...task, client: "killed", adds: 1_000, log: killedLog });
      await killed.acknowledged(4 * share);
      await killed.kill();
      await other.ended();

      const log = new OperationLog();
      log.takeOver(killedLog);
      log.takeOver(otherLog);
      const unanswered = log.operations.filter(({ returned }) => returned === undefined);
      expect(unanswered.length).toBeGreaterThan(0);
      const invoked = now();
      const seen = await historyOf(await openMemory(server.url, id, patienceMs));
      log.record({ client: "last reader", call: { kind: "read", seen }, invoked, returned: now() });
      expect(findFault(log.operations)).toBeUndefined();
      for (const client of ["killed", "other"]) expectOwnOrder(seen, client);
    }, 120_000);

    /** Whether it succeeded. Only what a network or a server can do to a call is let pass. */
    async function settled(
      call: Promise<unknown>,
      codes: readonly string[] = ["STORE_UNAVAILABLE"],
    ): Promise<boolean> {
      return call.then(
        () => true,
        (error: unknown) => {
          expect(codes).toContain(isTurnkeepError(error) ? error.code : error);
          return false;
        },
      );
    }

    /**
     * A connection that broke may be noticed by the first call after it only; the one after that must succeed. Where
     * the memory is `hasty`, a busy machine may take longer than it waits: its calls must succeed in the end.
     */
    async function usableAgain(
      memory: ChatMemory<ModelMessage>,
      log: OperationLog,
      { hasty = false } = {},
    ): Promise<void> {
      const client: RecordedMemory = recorded("again", memory, log.record);
      async function succeeds(call: () => Promise<unknown>): Promise<void> {
        if (!hasty) await call();
        else while (!(await settled(call())));
      }
      if (!(await settled(client.read()))) await succeeds(client.read);
      const ids: string[] = [];
      await succeeds(() => client.add(ids[ids.push(`again-${randomUUID()}`) - 1] as string));
      let seen: string[] = [];
      await succeeds(async () => {
        seen = await client.read();
      });
      expect(seen).toContain(ids.at(-1));
    }
  });
}

/**
 * The operations as if those that a server forgot when it was killed had not been made: the last write that each client had
 * been answered by then, and the one under way. Anything else that is missing stays, and is a fault.
 */
function withoutForgotten(
  operations: readonly Operation[],
  killed: number,
  seen: readonly string[],
): Operation[] {
  const last = new Map<string, Operation>();
  const open = new Set<Operation>();
  for (const operation of operations) {
    const { client, call, invoked, returned } = operation;
    if (call.kind === "read" || returned === undefined || invoked > killed) continue;
    if (returned > killed) open.add(operation);
    else if (invoked > (last.get(client)?.invoked ?? 0)) last.set(client, operation);
  }
  for (const operation of last.values()) open.add(operation);
  const gone = [...open].flatMap(({ call }) => (call.kind === "add" ? call.ids : []));
  const forgotten = new Set(gone.filter((id) => !seen.includes(id)));
  return operations.flatMap((operation) => {
    const { call } = operation;
    if (call.kind === "read") {
      return [{ ...operation, call: { ...call, seen: call.seen.filter((id) => !forgotten.has(id)) } }];
    }
    if (!open.has(operation)) return [operation];
    if (call.kind === "add") return call.ids.some((id) => forgotten.has(id)) ? [] : [operation];
    return [{ ...operation, returned: undefined }];
  });
}

/** The messages of one process, from its first on and without a gap, in the order in which it added them. */
export function expectOwnOrder(seen: readonly string[], client: string): void {
  const own = seen.filter((id) => id.startsWith(`${client}-`));
  expect(own).toEqual(own.map((_, index) => `${client}-${index + 1}`));
}
