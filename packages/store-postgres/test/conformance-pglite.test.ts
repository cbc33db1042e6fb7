import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import type { HarnessCreateOptions } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { createChatMemory, user } from "@turnkeep/core";
import { message, partOfTheKit, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { rawAccess, recording } from "./support.ts";

let folder: string;
let onDisk: PGlite;
let inMemory: PGlite;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "turnkeep-pglite-"));
  [onDisk, inMemory] = await Promise.all([PGlite.create(folder), PGlite.create("memory://")]);
});
afterAll(async () => {
  await Promise.all([onDisk.close(), inMemory.close()]);
  await rm(folder, { recursive: true });
});

async function storeIn(client: PGlite, options: HarnessCreateOptions = {}): Promise<PostgresStore> {
  const store = postgresStore({ client, ...options });
  await store.migrate();
  return store;
}

// The same engine as Postgres, in this process.
describeConformance(
  "PGlite in a folder",
  {
    create: (options) => storeIn(onDisk, options),
    async reopen() {
      await onDisk.close();
      onDisk = await PGlite.create(folder);
    },
    ...rawAccess(() => onDisk),
  },
  { groups: partOfTheKit(["basic", "atomicity", "replay", "lifecycle"]) },
);

// The same database: what differs is what survives.
describeConformance(
  "PGlite in memory",
  {
    create: (options) => storeIn(inMemory, options),
    ...rawAccess(() => inMemory),
  },
  { groups: ["basic", "lifecycle"] },
);

describe("a PGlite", () => {
  test("is durable only in a folder", async () => {
    expect(postgresStore({ client: onDisk }).capabilities.durable).toBe(true);
    expect(postgresStore({ client: inMemory }).capabilities.durable).toBe(false);
  });

  test("that counts changed rows alone, as earlier ones do, takes one statement a change", async () => {
    await storeIn(inMemory);
    const client = recording({
      async query(text, values) {
        const { rows, affectedRows } = await inMemory.query(text, values);
        return { rows, affectedRows };
      },
    });
    const store = postgresStore({ client });
    const begin = update(null, 3, { append: [message(1), message(2)] });
    const evict = update(begin.version, 3, { move: [{ seq: 1, to: "evicted" }] });
    const supersede = update(evict.version, 3, { move: [{ seq: 2, to: "superseded" }] });
    const append = update(supersede.version, 4, { append: [message(3)] });
    for (const change of [begin, evict, supersede, append]) await store.updateMessages("counted", change);
    expect(client.statements).toHaveLength(4);
  });

  test("stays open when the store closes", async () => {
    await postgresStore({ client: inMemory }).close();
    expect((await inMemory.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("has transactions for the store, which take back all of it", async () => {
    await storeIn(inMemory);
    const add = (text: string) =>
      inMemory.transaction(async (tx) => {
        await createChatMemory({ id: "in turn", store: postgresStore({ client: tx }) }).add(user(text));
        if (text === "taken back") await tx.rollback();
      });
    await add("taken back");
    await add("kept");
    const { messages } = await createChatMemory({
      id: "in turn",
      store: postgresStore({ client: inMemory }),
    }).history();
    expect(messages.map(({ message }) => message)).toEqual([user("kept")]);
  });

  test("in a folder keeps everything when it is closed and opened again", async () => {
    const begin = update(null, 4, {
      owner: "alice",
      head: '{"n":1}',
      append: [message(1), message(2), message(3)],
      move: [{ seq: 1, to: "evicted" }],
    });
    const before = await storeIn(onDisk);
    await before.updateMessages("kept", begin);
    const snapshot = await before.getMessages("kept");
    const history = await before.getHistory("kept", {});
    await before.close();
    await onDisk.close();

    onDisk = await PGlite.create(folder);
    const after = postgresStore({ client: onDisk });
    expect(await after.getMessages("kept")).toEqual(snapshot);
    expect(await after.getHistory("kept", {})).toEqual(history);
    await after.updateMessages("kept", update(begin.version, 5, { append: [message(4)] }));
    expect((await after.getMessages("kept")).messages).toEqual([message(2), message(3), message(4)]);
  });
});
