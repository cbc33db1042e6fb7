import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChatMemory, user } from "@turnkeep/core";
import { bundled, message, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lockName } from "../src/folder/lock.ts";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { startServer } from "./folder-processes.ts";

let program: string;
/** A database with its tables, made once: to make one takes longer than most of what is tested. */
let template: string;

beforeAll(async () => {
  program = await bundled(new URL("folder-server.ts", import.meta.url));
  template = mkdtempSync(join(tmpdir(), "turnkeep-folder-template-"));
  const store = postgresStore({ folder: template });
  await store.migrate();
  await store.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

function database(): string {
  const folder = emptyFolder();
  cpSync(template, folder, { recursive: true });
  return folder;
}

function storeIn(folder: string): PostgresStore {
  const store = postgresStore({ folder });
  onTestFinished(() => store.close());
  return store;
}

/** To open a database takes seconds, and more beside other tests. */
const patience = { timeout: 600_000 };

describe("a store with a folder", patience, () => {
  test("makes the folder, keeps everything in it, and leaves no lock when it is closed", async () => {
    const folder = join(emptyFolder(), "new", "deeper");
    const before = storeIn(folder);
    expect(before.capabilities.durable).toBe(true);
    expect(readdirSync(join(folder, "../.."))).toEqual([]);
    await before.migrate();
    expect(readdirSync(folder)).toContain(lockName);
    const begin = update(null, 3, { append: [message(1), message(2)] });
    await before.updateMessages("m", begin);
    await before.close();
    expect(readdirSync(folder)).not.toContain(lockName);

    const after = storeIn(folder);
    expect((await after.getMessages("m")).messages).toEqual([message(1), message(2)]);
  });

  test("has it alone in its process, until it is closed", async () => {
    const folder = database();
    const first = storeIn(folder);
    const second = storeIn(folder);
    await first.listMemories({});
    await expect(second.listMemories({})).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringMatching(/this process has folder .* open already .*globalThis/),
    });
    await first.listMemories({});
    await first.close();
    expect(await second.listMemories({})).toEqual({ memories: [] });
  });

  test("has it alone among processes, and takes it over from one that was killed, with all that it kept", async () => {
    const folder = database();
    const server = startServer(program, { folder, adds: 200 });
    await server.printed(/^open$/);
    const late = startServer(program, { folder, adds: 1 });
    expect(await late.printed(/^STORE_/)).toMatch(
      new RegExp(`^STORE_REFUSED: .* is open in process ${server.pid}, since .*end that process first`),
    );
    const store = storeIn(folder);
    await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_REFUSED" });
    await server.printed(/^200$/);
    await server.kill();

    const memory = createChatMemory({ id: "m", store });
    const texts = Array.from({ length: 200 }, (_, index) => user(`message ${index + 1}`));
    expect(await memory.messages()).toEqual(texts);
    await memory.close();
  });

  test("closes while it opens, and does nothing where it was never used", async () => {
    const folder = database();
    const store = storeIn(folder);
    const stop = new AbortController();
    const call = store.listMemories({}, { signal: stop.signal });
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
    expect(readdirSync(folder)).not.toContain(lockName);
    await storeIn(join(folder, "unused")).close();
    expect(readdirSync(folder)).not.toContain("unused");
  });

  test("refuses every call once another process has taken the folder over, and writes nothing more", async () => {
    const folder = database();
    const store = storeIn(folder);
    await store.listMemories({});
    const path = join(folder, lockName);
    const foreign = JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), token: "of another" });
    writeFileSync(path, foreign);
    const control = readFileSync(join(folder, "global/pg_control"));
    const refused = (): Promise<unknown> => store.listMemories({}).catch((error) => error);
    await expect.poll(refused, { timeout: 60_000 }).toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining("is no longer this process's"),
    });
    await store.close();
    expect(readFileSync(path, "utf8")).toBe(foreign);
    expect(readFileSync(join(folder, "global/pg_control"))).toEqual(control);
  });
});

describe("a folder that cannot be opened", patience, () => {
  const control = ["global", "pg_control"] as const;

  test.each<readonly [string, string, RegExp, (folder: string) => string]>([
    [
      "is a file",
      "INVALID_OPTION",
      /is, or lies in, a file/,
      (folder) => {
        writeFileSync(join(folder, "file"), "");
        return join(folder, "file");
      },
    ],
    [
      "lies in a file",
      "INVALID_OPTION",
      /is, or lies in, a file/,
      (folder) => {
        writeFileSync(join(folder, "file"), "");
        return join(folder, "file", "folder");
      },
    ],
    [
      "holds other files",
      "INVALID_OPTION",
      /holds other files and no database/,
      (folder) => {
        writeFileSync(join(folder, "thesis.txt"), "mine");
        return folder;
      },
    ],
    [
      "belongs to a server",
      "STORE_REFUSED",
      /belongs to a Postgres server \(process 4711\)/,
      (folder) => {
        writeFileSync(join(folder, "PG_VERSION"), "18\n");
        writeFileSync(join(folder, "postmaster.pid"), "4711\n/var/lib/postgresql\n");
        return folder;
      },
    ],
    [
      "is of another version",
      "STORE_REFUSED",
      /holds a database of Postgres "99", and the installed PGlite is Postgres \d\d: install/,
      (folder) => {
        cpSync(template, folder, { recursive: true });
        writeFileSync(join(folder, "PG_VERSION"), "99\n");
        return folder;
      },
    ],
    [
      "is damaged",
      "STORE_REFUSED",
      /cannot open the database in folder .*damaged/,
      (folder) => {
        cpSync(template, folder, { recursive: true });
        writeFileSync(join(folder, ...control), "no control file");
        return folder;
      },
    ],
  ])("%s: %s, and nothing of it is changed", async (_, code, text, made) => {
    const parent = emptyFolder();
    mkdirSync(join(parent, "place"));
    const folder = made(join(parent, "place"));
    // PGlite leaves a file with its own mark where it fails.
    const files = (): string[] =>
      readdirSync(parent, { recursive: true, encoding: "utf8" })
        .filter((name) => !name.endsWith("postmaster.pid"))
        .sort();
    const before = files();
    await expect(storeIn(folder).migrate()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(text),
    });
    expect(files()).toEqual(before);
  });
});
