import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import {
  assistant,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { anthropicFormat } from "@turnkeep/formats/anthropic";
import { createDatabase, startDynamo, startMongo, startRedis } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { openPlace } from "../src/places/place.ts";
import { testFolder } from "./folder.ts";
import { inProcess } from "./in-process.ts";
import type { Ended } from "./process.ts";
import { emptyStores } from "./template.ts";

const inspect = (...args: string[]): Promise<Ended> => inProcess(["inspect", ...args]);

/** A file with that default export. */
function exporting(expression: string): string {
  const path = join(testFolder(), "store.mjs");
  writeFileSync(path, `export default ${expression};\n`);
  return path;
}

const held: ChatMemoryStore[] = [];
Object.assign(globalThis, { heldStores: held });

/** A file that exports that store of this process. */
function placeOf(store: ChatMemoryStore): string {
  return exporting(`globalThis.heldStores[${held.push(store) - 1}]`);
}

/** Two memories: of the seven messages of the first, two have left and one was taken back. */
async function fill(store: ChatMemoryStore): Promise<void> {
  const memories = createChatMemories({
    store,
    owner: (id) => id.split("/")[0],
    window: { maxMessages: 4, unit: "turn" },
  });
  const memory = memories.get("ann/1");
  await memory.add(system("Be brief."), user("First question"), assistant("First answer"));
  const [wrong] = await memory.add(user("Mistaken"));
  await memory.rewind(wrong);
  await memory.add(user("Second question"), toolCall("c1", "weather", { city: "Oslo" }));
  await memory.add(toolResult("c1", "weather", "4 °C"));
  await memories.get("bob/1").add(user("Hello"));
  await memories.close();
}

const filled = [
  /^1 {2}live {8}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {11}system {5}Be brief\.$/,
  /^2 {2}evicted .* user {7}First question$/,
  /^3 {2}evicted .* assistant {2}First answer$/,
  /^4 {2}superseded .* user {7}Mistaken$/,
  /^5 {2}live .* user {7}Second question$/,
  /^6 {2}live .* assistant {2}calls weather$/,
  /^7 {2}live .* tool {7}result: 4 °C$/,
];

const emptyStore = emptyStores();

/** Each file of a folder with what it holds. */
function filesIn(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, createHash("sha256").update(readFileSync(path)).digest("hex")];
    }),
  );
}

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

const servers: Record<string, () => Promise<Server>> = {
  Postgres: async () => {
    const { url, drop } = await createDatabase(inject("postgresUrl"));
    return { url, stop: drop };
  },
  Redis: () => startRedis(),
  MongoDB: () => startMongo(),
  DynamoDB: () => startDynamo(),
};

/** Every adapter is asked for below; the usual run has the two whose servers start soonest. */
const started = Object.keys(servers).slice(0, process.env.TURNKEEP_THOROUGH ? 4 : 2);

describe.each(started)("a store in %s", (name) => {
  let server: Server;
  beforeAll(async () => {
    server = await (servers[name] as () => Promise<Server>)();
    const place = await openPlace(server.url, "write");
    await fill(place.store);
    await place.close();
  });
  afterAll(() => server?.stop());

  it("lists its memories, and shows one with what became of each message", async () => {
    const listed = await inspect("--store", server.url);
    expect(listed).toMatchObject({ status: 0, err: "" });
    const rows = listed.out.split("\n").slice(1, 3).sort();
    expect(rows[0]).toMatch(/^ann {21}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}ann\/1$/);
    expect(rows[1]).toMatch(/^bob .* bob\/1$/);
    expect(listed.out).toContain("\n2 memories in ");

    const shown = await inspect("--store", server.url, "ann/1");
    expect(shown).toMatchObject({ status: 0, err: "" });
    expect(shown.out).toMatch(/^memory {6}ann\/1\nstore {7}.*\nowner {7}ann\nversion {5}\S+\n/);
    expect(shown.out).toContain("in memory   4 messages\n");
    const lines = shown.out.trimEnd().split("\n").slice(-filled.length);
    for (const [index, line] of lines.entries()) expect(line).toMatch(filled[index] as RegExp);
  });
});

describe("turnkeep inspect", () => {
  /** The store's `close` ends nothing here: it is looked into several times. */
  const inMemory = (): ChatMemoryStore => ({ ...inMemoryStore(), close: async () => {} });

  async function filledPlace(): Promise<string> {
    const store = inMemory();
    await fill(store);
    return placeOf(store);
  }

  it("shows an owner's memories, and as many as are asked for", async () => {
    const store = await filledPlace();
    expect((await inspect("--store", store, "--owner", "bob")).out).toMatch(/\n\n1 memory of bob in /);
    const one = await inspect("--store", store, "--limit", "1");
    expect(one.out.split("\n")).toHaveLength(5);
    expect(one.out).toContain("1 memory in the store of ");
    expect(one.out).toContain("; there are more: --all\n");
    expect((await inspect("--store", store, "--all")).out).toContain("2 memories in ");
    expect((await inspect("--store", store, "--owner", "nobody")).out).toMatch(/^0 memories of nobody in /);
  });

  it("lists more memories than a page holds", async () => {
    const store = inMemory();
    for (let number = 0; number < 1_003; number++)
      await createChatMemory({ id: `m${number}`, store }).add(user("a"));
    const place = placeOf(store);
    const idsOf = ({ out }: Ended): string[] =>
      out
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { memoryId: string }).memoryId);
    expect(new Set(idsOf(await inspect("--store", place, "--json", "--all"))).size).toBe(1_003);
    expect(new Set(idsOf(await inspect("--store", place, "--json", "--limit", "1001"))).size).toBe(1_001);
    expect((await inspect("--store", place, "--limit", "1003")).out).toMatch(
      /\n1,003 memories in .*\.mjs\n$/,
    );
  });

  it("shows the newest messages, oldest first, and all where that is asked for", async () => {
    const store = await filledPlace();
    const some = await inspect("--store", store, "ann/1", "--limit", "2");
    expect(some.out).toMatch(/\nearlier messages: --all\n6 .*\n7 .*\n$/);
    const all = await inspect("--store", store, "ann/1", "--all");
    expect(all.out.match(/^\d /gm)).toHaveLength(7);
    expect(all.out).not.toContain("--all");
  });

  it("shows a history of several pages, each message once and in order", async () => {
    const store = inMemory();
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 5 } });
    await memory.add(...Array.from({ length: 2_345 }, (_, index) => user(`${index}`)));
    const place = placeOf(store);
    const seqsOf = ({ out }: Ended): number[] =>
      out
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { seq: number }).seq);
    const all = Array.from({ length: 2_345 }, (_, index) => index + 1);
    expect(seqsOf(await inspect("--store", place, "m", "--json", "--all"))).toEqual(all);
    expect(seqsOf(await inspect("--store", place, "m", "--json", "--limit", "2001"))).toEqual(
      all.slice(-2_001),
    );
  });

  it("tells tokens, and what a derived message stands for", async () => {
    const store = inMemory();
    const counter = { name: "letters", count: () => 7 };
    const memory = createChatMemory({
      id: "m",
      store,
      window: { maxTokens: 1_000, counter },
    });
    const [first] = await memory.add(user("Long story"), assistant("Indeed"));
    await memory.compact({ through: first, replacement: user("In short") });
    const { out } = await inspect("--store", placeOf(store), "m");
    expect(out).toContain("in memory   2 messages, 14 tokens by letters\n");
    expect(out).toMatch(/^1 {2}evicted .* 7 {2}user {7}Long story$/m);
    expect(out).toMatch(/^3 {2}live .* 7 {2}user {7}\(stands for all up to 1\) In short$/m);
  });

  it("gives each message as a line of JSON, as it is stored", async () => {
    const store = inMemory();
    const memory = createChatMemory({ id: "m", store });
    const file = { type: "file" as const, data: new Uint8Array([1, 2, 3]), mediaType: "image/png" };
    const [id] = await memory.add({ role: "user", content: [file] });
    const { out } = await inspect("--store", placeOf(store), "m", "--json");
    expect(out.endsWith("}\n")).toBe(true);
    expect(JSON.parse(out)).toEqual({
      seq: 1,
      id,
      state: "live",
      createdAt: expect.any(Number),
      format: "model-message",
      version: 1,
      message: { role: "user", content: [{ ...file, data: { $turnkeep: "Uint8Array", value: "AQID" } }] },
    });
  });

  it("reads other formats, and names those that it does not know, and what cannot be read", async () => {
    const store = inMemory();
    const memory = createChatMemory({ id: "m", store, format: anthropicFormat });
    await memory.add({ role: "user", content: [{ type: "text", text: "From Anthropic" }] });
    const payloads = [
      '{"format":"my-own","version":1,"message":{}}',
      '{"format":"model-message","version":9,"message":{}}',
      '{"format":"model-message","version":1,"message":{"role":"nobody"}}',
      "no JSON",
    ];
    const { version, nextSeq } = await store.getMessages("m");
    const append = payloads.map((payload, index) => {
      const meta = [
        "{",
        "[1]",
        '{"tokens":null,"derived":null}',
        '{"tokens":{"o200k_base":"x"},"derived":7}',
      ][index];
      return { id: `x${index}`, seq: nextSeq + index, createdAt: 0, payload, meta };
    });
    const change = { expected: version, version: "v2", nextSeq: nextSeq + payloads.length };
    await store.updateMessages("m", { ...change, append, replace: [], move: [] });
    const { status, out } = await inspect("--store", placeOf(store), "m", "--columns", "140");
    expect(status).toBe(0);
    expect(out).toMatch(/^1 .* user {7}From Anthropic$/m);
    expect(out).toMatch(/^2 .* \? {10}\(message format "my-own"\)$/m);
    expect(out).toMatch(/^3 .* \? {10}\(UNSUPPORTED_VERSION: /m);
    expect(out).toMatch(/^4 .* \? {10}\(CORRUPT_RECORD: /m);
    expect(out).toMatch(/^5 {2}live {8}1970-01-01 00:00:00 .* \? {10}\(no record of a message format\)$/m);
    const json = await inspect("--store", placeOf(store), "m", "--json");
    expect(JSON.parse(json.out.trimEnd().split("\n").at(-1) as string)).toMatchObject({ payload: "no JSON" });
  });

  it("takes a terminal that does not know its size for one of 100 columns", async () => {
    const store = inMemory();
    await createChatMemory({ store, id: "m", window: { maxMessages: 4 } }).add(user("so ".repeat(50)));
    const args = ["inspect", "--store", placeOf(store), "m"];
    const { status, out } = await inProcess(args, 0);
    expect(status).toBe(0);
    expect(out).toBe((await inProcess(args, 100)).out);
    expect(out).not.toBe((await inProcess(args, 80)).out);
  });

  it("shows what is in memory where a store keeps no history", async () => {
    const whole = inMemory();
    const store = { ...whole, capabilities: { ...whole.capabilities, history: false } };
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 2 } });
    await memory.add(user("1"), assistant("2"), user("3"));
    const { out } = await inspect("--store", placeOf(store), "m", "--limit", "1");
    expect(out).toContain("none is kept by this store; in memory:\n\nearlier messages: --all\n3  live ");
  });

  it("shows nothing that a terminal would obey", async () => {
    const store = inMemory();
    const id = "a\u001b]0;title\u0007";
    await createChatMemory({ id, store, owner: "o\u009b2J" }).add(user("hi\u001b[2J"));
    const place = placeOf(store);
    for (const { out } of [await inspect("--store", place), await inspect("--store", place, id)]) {
      expect(out).toContain("a]0;title");
      expect(out).not.toMatch(/(?!\n)\p{Cc}/u);
    }
  });

  it("makes no copy of a folder within that folder, which would hold itself without end", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "PG_VERSION"), "17\n");
    for (const within of [folder, join(folder, "tmp")]) {
      mkdirSync(within, { recursive: true });
      vi.stubEnv("TMPDIR", within);
      const { status, out, err } = await inspect("--store", folder).finally(() => vi.unstubAllEnvs());
      expect({ status, out }).toEqual({ status: 2, out: "" });
      expect(err).toMatch(/^turnkeep: TMPDIR lies in .*\. Set TMPDIR to a folder outside of it\.\n$/);
    }
    expect(readdirSync(folder, { recursive: true })).toEqual(["PG_VERSION", "tmp"]);
  });

  it("makes nothing where it only reads", async () => {
    const folder = testFolder();
    const absent = await inspect("--store", join(folder, "none"));
    expect(absent).toMatchObject({ status: 2, out: "" });
    expect(absent.err).toMatch(/^turnkeep: There is no folder .*none\. Name a folder of PGlite's\.\n$/);
    const empty = await inspect("--store", folder);
    expect(empty).toMatchObject({ status: 2, out: "" });
    expect(empty.err).toMatch(/^turnkeep: There is no database in .*\n$/);
    expect(readdirSync(folder)).toEqual([]);

    const database = await createDatabase(inject("postgresUrl"));
    onTestFinished(() => database.drop());
    const unready = await inspect("--store", database.url, "m");
    expect(unready.status).toBe(1);
    expect(unready.err).toContain("migrate()");
    const store = postgresStore({ url: database.url });
    await expect(store.getMessages("m")).rejects.toMatchObject({ code: "STORE_NOT_READY" });
    await store.close();
  });

  it("looks into a folder of an embedded Postgres, and changes nothing in it", async () => {
    const folder = emptyStore();
    const place = await openPlace(folder, "write");
    await fill(place.store);
    await place.close();
    const before = filesIn(folder);
    const { out } = await inspect("--store", folder, "bob/1");
    expect(out).toMatch(/^1 {2}live .* user {7}Hello$/m);
    expect(filesIn(folder)).toEqual(before);
    const client = await PGlite.create(folder);
    const store = postgresStore({ client });
    expect((await store.listMemories({})).memories).toHaveLength(2);
    await store.close();
    await client.close();
  });

  it.each<[string, RegExp, (folder: string) => void]>([
    [
      "is of another version",
      /holds a database of Postgres "99", and the installed PGlite is Postgres \d+: install/,
      (folder) => writeFileSync(join(folder, "PG_VERSION"), "99\n"),
    ],
    [
      "is damaged",
      /PGlite cannot open the database in folder .*, which is damaged or was never finished/,
      (folder) => writeFileSync(join(folder, "global", "pg_control"), "no control file"),
    ],
    [
      "is being made, or was never finished",
      /The database in .* cannot be copied \(ENOENT\), .* unfinished/,
      (folder) => rmSync(join(folder, "global"), { recursive: true }),
    ],
  ])("says in a line of a folder that it %s, and leaves no copy", async (_, text, spoil) => {
    const folder = emptyStore();
    spoil(folder);
    // While there is a copy, a listener is there that removes it.
    const listeners = process.listenerCount("exit");
    const { status, err } = await inspect("--store", folder);
    expect(status).toBe(1);
    const [first] = err.split("\n");
    expect(first).toMatch(/^turnkeep: STORE_REFUSED: /);
    expect(first).toMatch(text);
    expect(first).toContain(folder);
    expect(err).not.toContain("turnkeep-inspect-");
    expect(process.listenerCount("exit")).toBe(listeners);
  });

  it("says that a memory is not there", async () => {
    const ended = await inspect("--store", await filledPlace(), "nobody/1");
    expect(ended).toMatchObject({ status: 1, out: "" });
    expect(ended.err).toMatch(/^turnkeep: there is no memory "nobody\/1" in the store of .*\n$/);
  });

  it.each([
    [[], /needs --store/],
    [["--store", ""], /must name a folder/],
    [["--store", "mysql://app:hidden-word@host/db"], /redis:\/\/, mongodb:\/\/.* not with mysql:\/\/\.$/m],
    [["--store", "none.mjs"], /none\.mjs does not exist/],
    [["--store", "x", "a", "b"], /one id/],
    [["--store", "x", "a", "--owner", "b"], /--owner/],
    [["--store", "x", "--all", "--limit", "3"], /exclude each other/],
    [["--store", "x", "--limit", "0"], /limit must be a positive whole number/],
    [["--storee", "x"], /Unknown option '--storee'/],
  ] as [string[], RegExp][])("refuses %j", async (args, text) => {
    const ended = await inspect(...args);
    expect(ended).toMatchObject({ status: 2, out: "" });
    expect(ended.err).toMatch(text);
    expect(ended.err).not.toContain("hidden-word");
  });

  it.each([
    ["postgres://127.0.0.1:1/db", "postgresStore"],
    ["redis://127.0.0.1:1", "redisStore"],
    ["mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100", "mongoStore"],
    ["http://key:secret@127.0.0.1:1", "dynamoStore"],
  ])("asks at %s by %s", async (address, store) => {
    const { status, err } = await inspect("--store", address);
    expect(status).toBe(1);
    expect(err).toMatch(new RegExp(`^turnkeep: STORE_UNAVAILABLE: ${store}: `));
  });

  it("takes a file that exports a store, or a function that makes one, also an async one", async () => {
    const place = placeOf(inMemory());
    const made = exporting(`async () => (await import(${JSON.stringify(place)})).default`);
    for (const file of [place, made])
      expect((await inspect("--store", file)).out).toBe(`0 memories in the store of ${file}\n`);
    const half = exporting("{ getMessages() {} }");
    for (const file of [exporting("{}"), exporting("() => undefined"), exporting("null"), half]) {
      const { status, err } = await inspect("--store", file);
      expect(status).toBe(2);
      expect(err).toContain("must have a store, or a function that answers one, as its default export");
    }
  });

  it.each([
    ["throws", 'await Promise.reject(new Error("no\\nlicence"))', "Error: no licence"],
    ["has a function that throws", '() => { throw new RangeError("too few") }', "RangeError: too few"],
    ["is no JavaScript", "{", ""],
  ])("says in one line what is wrong with a file that %s", async (_, expression, says) => {
    const file = exporting(expression);
    const { status, out, err } = await inspect("--store", file);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err.startsWith(`turnkeep: ${file} failed, and gave no store: ${says}`)).toBe(true);
    expect(err.trimEnd()).not.toContain("\n");
  });

  it("says in one line that a folder cannot be made", async () => {
    const file = join(testFolder(), "file");
    writeFileSync(file, "");
    const place = join(file, "folder");
    expect((await inspect("--store", place)).err).toMatch(
      /^turnkeep: The folder .* cannot be read \(ENOTDIR\)\..*\n$/,
    );
    await expect(openPlace(place, "write")).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/is, or lies in, a file and no folder/),
    });
  });
});
