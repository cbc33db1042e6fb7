import { afterAll, beforeAll, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { inProcesses } from "./processes.ts";
import { message, newDatabaseFile, update } from "./support.ts";

const file = newDatabaseFile();
const store = sqliteStore({ url: file.url });
beforeAll(() => store.migrate());
afterAll(async () => {
  await store.close();
  file.remove();
});

test("four processes append to one memory, and every message lands once, in one order", async () => {
  const count = 100;
  const answers = await inProcesses(4, { url: file.url, work: "append", count });
  expect(answers).toEqual(["done", "done", "done", "done"]);
  const { messages, nextSeq } = await store.getMessages("crowded");
  expect(nextSeq).toBe(4 * count + 1);
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 4 * count }, (_, index) => index + 1));
  expect(new Set(messages.map(({ id }) => id)).size).toBe(4 * count);
}, 120_000);

test("a reader is not held up by another connection's open transaction, and sees none of it", async () => {
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("a", begin);
  const other = file.open();
  other.exec("begin immediate; update turnkeep_memories set version = 'half'");
  expect((await store.getMessages("a")).version).toBe(begin.version);
  other.exec("rollback");
  other.close();
});

test("a write that waits too long is STORE_UNAVAILABLE, and lands when it is sent again", async () => {
  const impatient = sqliteStore({ config: { path: file.path, timeout: 1 } });
  const begin = update(null, 2, { append: [message(1)] });
  await impatient.getMessages("b");
  const other = file.open();
  other.exec("begin immediate");
  await expect(impatient.updateMessages("b", begin)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  other.exec("rollback");
  other.close();
  await impatient.updateMessages("b", begin);
  expect((await store.getMessages("b")).messages).toEqual([message(1)]);
  await impatient.close();
});
