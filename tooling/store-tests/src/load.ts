import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChatMemories, createChatMemory, entry, user } from "@turnkeep/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectOwnOrder, historyOf } from "./faults.ts";
import { OperationLog } from "./operations.ts";
import { bundled, startWriter } from "./processes.ts";
import type { DurableServer, StoreTarget } from "./target.ts";

/** Registers the tests of many who write at once. */
export function describeLoad(target: StoreTarget): void {
  describe(`${target.name}: load`, () => {
    let server: DurableServer;

    beforeAll(async () => {
      server = await target.start();
      await (await target.openStore(server.url)).close();
    });
    afterAll(() => server.stop());

    test("1,000 concurrent adds from 8 processes to one memory all land, each once", async () => {
      const memoryId = randomUUID();
      const folder = mkdtempSync(join(tmpdir(), "turnkeep-load-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const program = await bundled(target.writer);
      const writers = Array.from({ length: 8 }, (_, index) => {
        const client = `writer ${index + 1}`;
        return { client, log: join(folder, client) };
      });
      const running = writers.map((writer) =>
        startWriter(program, { ...writer, url: server.url, memoryId, adds: 125 }),
      );
      await Promise.all(running.map((writer) => writer.ended()));

      const log = new OperationLog();
      for (const writer of writers) log.takeOver(writer.log);
      expect(log.acknowledged).toHaveLength(1_000);
      const store = await target.openStore(server.url);
      onTestFinished(() => store.close());
      const seen = await historyOf(createChatMemory({ id: memoryId, store }));
      expect([...seen].sort()).toEqual(log.acknowledged.sort());
      for (const { client } of writers) expectOwnOrder(seen, client);
    }, 300_000);

    test("500 memories with 100 messages each stay apart", async () => {
      const store = await target.openStore(server.url);
      onTestFinished(() => store.close());
      const run = randomUUID();
      const memories = createChatMemories({ store, window: { maxMessages: 20 }, timeoutMs: 300_000 });
      const ids = Array.from({ length: 500 }, (_, index) => `${run} memory ${index}`);
      const said = (id: string): string[] =>
        Array.from({ length: 100 }, (_, index) => `${id} message ${index}`);
      const waiting = [...ids];
      async function work(): Promise<void> {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          const messages = said(id);
          const memory = memories.get(id);
          for (let from = 0; from < 100; from += 20) {
            await memory.add(
              ...messages.slice(from, from + 20).map((text) => entry(user(text), { id: text })),
            );
          }
        }
      }
      // Each worker has one memory in hand, so that as many are written at once.
      await Promise.all(Array.from({ length: 32 }, work));
      const checking = [...ids];
      async function check(): Promise<void> {
        for (let id = checking.pop(); id !== undefined; id = checking.pop()) {
          const memory = createChatMemory({ id, store, window: { maxMessages: 20 } });
          expect(await historyOf(memory)).toEqual(said(id));
          expect((await memory.messages()).map(({ content }) => content)).toEqual(said(id).slice(-20));
        }
      }
      await Promise.all(Array.from({ length: 32 }, check));
    }, 300_000);
  });
}
