import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MemoryUpdate } from "@turnkeep/core";
import { nodeSqlite } from "../src/drivers.ts";
import { type SqliteStore, sqliteStore } from "../src/index.ts";

// What a store does with a file that it opens, told as JSON: for a Node that has node:sqlite.
const [file = ""] = process.argv.slice(2);
const folder = dirname(file);

const begin = (version: string): MemoryUpdate => ({
  expected: null,
  version,
  nextSeq: 2,
  append: [{ id: "m1", seq: 1, createdAt: 0, payload: "{}" }],
  replace: [],
  move: [],
});
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "done",
    (error: { code?: string }) => String(error.code),
  );

async function withStore<T>(path: string, use: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = sqliteStore({ file: path });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

await withStore(file, async () => {});
const untouched = !existsSync(file);

const store = sqliteStore({ file });
await store.migrate();
await store.updateMessages("a", begin("v1"));
const conflictOf = await codeOf(store.updateMessages("a", begin("v2")));

const holder = new (nodeSqlite().DatabaseSync)(file);
const mode = holder.prepare("pragma journal_mode").all() as { journal_mode: string }[];
holder.exec("begin immediate");
const waiting = store.updateMessages("b", begin("v1"));
const controller = new AbortController();
const given = codeOf(store.updateMessages("c", begin("v1"), { signal: controller.signal }));
for (let n = 1; n <= 5; n++) await new Promise((resolve) => setTimeout(resolve));
controller.abort();
const aborted = await given;
const whileHeld = (await store.getMessages("b")).version;
holder.exec("rollback");
await waiting;
const waited = (await store.getMessages("b")).messages.map(({ id }) => id);
const written = (await store.getMessages("c")).version;

const later = sqliteStore({ file: join(folder, "later", "chat.db") });
const missingFolder = await codeOf(later.migrate());
mkdirSync(join(folder, "later"));
await later.migrate();
const openedLater = (await later.getMessages("a")).version;
await later.close();

// More than one batch of a sweep.
const short = sqliteStore({ file, ttlMs: 1 });
const ids = Array.from({ length: 150 }, (_, index) => `expired ${index}`);
for (const id of ids) await short.updateMessages(id, begin("v1"));
while ((await short.getMessages(ids.at(-1) ?? "")).version !== null);
const sweeping = short.sweep().catch(String);
await short.close();
const swept = await sweeping;

const notADatabase = await withStore(join(folder, "text.db"), (other) => codeOf(other.migrate()));
await store.close();
const closed = await codeOf(store.getMessages("a"));
console.log(
  JSON.stringify({
    ...{ untouched, mode: mode[0]?.journal_mode, conflictOf, whileHeld, waited, aborted, written },
    ...{ missingFolder, openedLater, swept, notADatabase, closed },
  }),
);
