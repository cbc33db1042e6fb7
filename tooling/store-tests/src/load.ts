import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChatMemory } from "@turnkeep/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectOwnOrder } from "./faults.ts";
import { historyOf } from "./history.ts";
import { mixedUp } from "./many-memories.ts";
import { OperationLog } from "./operations.ts";
import { bundled, startWriter } from "./processes.ts";
import type { DurableServer, StoreTarget } from "./target.ts";

/** The usual run has a tenth, and less, of what `npm run thorough` writes. */
const [processes, addsEach, memories] = process.env.TURNKEEP_THOROUGH ? [8, 125, 500] : [4, 25, 20];

/** Nobody kills it here, so it may be one that others use too. */
type LoadedServer = Omit<DurableServer, "restart">;
type LoadTarget = Omit<StoreTarget, "start"> & { start(): Promise<LoadedServer> };

/** Registers the tests of many who write at once. */
export function describeLoad(target: LoadTarget): void {
  describe(`${target.name}: load`, () => {
    let server: LoadedServer;

    beforeAll(async () => {
      server = await target.start();
      await (await target.openStore(server.url)).close();
    });
    afterAll(() => server.stop());

    test(`${processes * addsEach} concurrent adds from ${processes} processes to one memory all land, each once`, async () => {
      const memoryId = randomUUID();
      const folder = mkdtempSync(join(tmpdir(), "turnkeep-load-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const program = await bundled(target.writer);
      const writers = Array.from({ length: processes }, (_, index) => {
        const client = `writer ${index + 1}`;
        return { client, log: join(folder, client) };
      });
      const running = writers.map((writer) =>
        startWriter(program, { ...writer, url: server.url, memoryId, adds: addsEach }),
      );
      await Promise.all(running.map((writer) => writer.ended()));

      const log = new OperationLog();
      for (const writer of writers) log.takeOver(writer.log);
      expect(log.acknowledged).toHaveLength(processes * addsEach);
      const store = await target.openStore(server.url);
      onTestFinished(() => store.close());
      const seen = await historyOf(createChatMemory({ id: memoryId, store }));
      expect([...seen].sort()).toEqual(log.acknowledged.sort());
      for (const { client } of writers) expectOwnOrder(seen, client);
    }, 300_000);

    test(`${memories} memories with 100 messages each stay apart`, async () => {
      const store = await target.openStore(server.url);
      onTestFinished(() => store.close());
      expect(await mixedUp(store, memories)).toEqual([]);
    }, 300_000);
  });
}
