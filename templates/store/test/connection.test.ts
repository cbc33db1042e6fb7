import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { type DatabaseFile, message, newDatabaseFile, update } from "./support.ts";

let file: DatabaseFile;
beforeEach(() => {
  file = newDatabaseFile();
});
afterEach(() => file.remove());

test("the factory does no I/O, and a store that was never used opens nothing when it closes", async () => {
  await sqliteStore({ url: file.url }).close();
  expect(existsSync(file.path)).toBe(false);
});

test("a client that was given stays open, with its own settings", async () => {
  const client = file.open();
  const before = client.prepare("pragma journal_mode").get();
  const store = sqliteStore({ client });
  await store.migrate();
  await store.close();
  await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
  expect(client.isOpen).toBe(true);
  expect(client.prepare("pragma journal_mode").get()).toEqual(before);
  client.close();
});

test("a refused update leaves the client outside of any transaction", async () => {
  const client = file.open();
  const store = sqliteStore({ client });
  await store.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  await expect(store.updateMessages("a", update(null, 2))).rejects.toMatchObject({
    code: "VERSION_CONFLICT",
  });
  expect(client.isTransaction).toBe(false);
  client.close();
});

test("a file that cannot be opened is STORE_UNAVAILABLE, and opened once it can be", async () => {
  const store = sqliteStore({ config: { path: `${file.path}/../missing/chat.db` } });
  await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await store.close();

  const readOnly = sqliteStore({ config: { path: file.path, readOnly: true } });
  await expect(readOnly.migrate()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const writer = sqliteStore({ url: file.url });
  await writer.migrate();
  expect((await readOnly.getMessages("a")).version).toBeNull();
  await writer.close();
  await readOnly.close();
});

test("a signal that has fired stops a call before the file is opened", async () => {
  const store = sqliteStore({ url: file.url });
  const options = { signal: AbortSignal.abort() };
  const calls = [
    () => store.migrate(options),
    () => store.getMessages("a", options),
    () => store.updateMessages("a", update(null, 1), options),
    () => store.deleteMessages("a", options),
    () => store.getHistory("a", {}, options),
    () => store.listMemories({}, options),
    () => store.sweep(options),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
  expect(existsSync(file.path)).toBe(false);
  await store.close();
});

test("a signal that fires while the file is being opened stops the write", async () => {
  const setUp = sqliteStore({ url: file.url });
  await setUp.migrate();
  const store = sqliteStore({ url: file.url });
  const controller = new AbortController();
  const call = store.updateMessages("a", update(null, 2, { append: [message(1)] }), {
    signal: controller.signal,
  });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  await store.close();
  expect((await setUp.getMessages("a")).version).toBeNull();
  await setUp.close();
});
