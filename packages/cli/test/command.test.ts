import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createDatabase, newerNode } from "@turnkeep/servers";
import { describe, expect, inject, it } from "vitest";
import { replay } from "../src/index.ts";
import { testFile, testFolder, toolConversation } from "./folder.ts";
import { inProcess } from "./in-process.ts";
import { type Ended, type Started, startProgram } from "./process.ts";
import { emptyDatabase } from "./server.ts";

const { command } = inject("programs");

const store = async (): Promise<readonly string[]> => ["--store", await emptyDatabase()];

/** Starts the command with its temporary files in a folder of the test's own. */
const start = (
  args: readonly string[],
  env: Record<string, string> = {},
  ...program: readonly string[]
): Started => startProgram([...(program.length > 0 ? program : [command]), ...args], env);

const run = (args: readonly string[], env?: Record<string, string>): Promise<Ended> => start(args, env).ended;

describe("turnkeep replay", () => {
  it("replays the shipped conversations over two processes, and leaves no temporary folder", async () => {
    const temporary = testFolder();
    const { status, out, err } = await run(["replay"], {
      TMPDIR: temporary,
      NODE_NO_WARNINGS: "1",
    });
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain("Replaying 6 conversations: 113 messages in 31 turns");
    expect(out).toMatch(
      /A second process \(\d+\) opens (?:SQLite|PGlite) in .* and goes on where the first stopped\./,
    );
    expect(out).toMatch(/goes on at turn [2-9]/);
    expect(out).toContain("113 of 113 messages, each once, in order, with equal content");
    expect(out.endsWith("\nNothing was lost.\n")).toBe(true);
    expect(out).not.toContain("\u001b");
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("keeps them in a file of SQLite's, into which inspect looks without changing it", async () => {
    const store = join(testFolder(), "chat.db");
    const byNewer = (...args: string[]): Promise<Ended> =>
      startProgram([command, ...args, "--store", store], { NODE_NO_WARNINGS: "1" }, newerNode()).ended;
    const missing = await byNewer("inspect");
    expect(missing.err).toContain("There is no file");
    const file = testFile([toolConversation("a", 4)]);
    const replayed = await byNewer("replay", "-q", "--run", "r", file);
    expect(replayed).toMatchObject({ status: 0, err: "" });
    expect(replayed.out).toContain(`SQLite in ${store}`);
    const before = readFileSync(store);
    const inspected = await byNewer("inspect", "replay/r/a");
    expect(inspected).toMatchObject({ status: 0, err: "" });
    expect(inspected.out).toContain("Answer number 4");
    expect(readFileSync(store).equals(before)).toBe(true);
    expect(readdirSync(dirname(store))).toEqual(["chat.db"]);

    const writing = `const database = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(store)});
      database.exec("update turnkeep_memories set owner = 'in the log'"); console.log("written"); setInterval(() => {}, 1_000)`;
    const holder = startProgram(["-e", writing], {}, newerNode());
    await holder.shown("written");
    expect((await byNewer("inspect")).out).toContain("in the log");
    holder.child.kill();
    await holder.ended;

    const temporary = await startProgram(
      [command, "replay", "-q", file],
      { NODE_NO_WARNINGS: "1" },
      newerNode(),
    ).ended;
    expect(temporary.out).toMatch(/SQLite in .*memories\.db, removed at the end/);
    expect(temporary.out.endsWith("Nothing was lost.\n")).toBe(true);
  });

  it("shows no name of a file as what a terminal would obey", async () => {
    const hostile = join(testFolder(), "a\u001b]0;title\u0007\u009b2J.jsonl");
    copyFileSync(testFile(["no JSON"]), hostile);
    const replayed = await run(["replay", hostile, ...(await store())]);
    expect(replayed.out).toContain("a]0;title2J.jsonl, line 1");
    const missing = await run(["replay", `${hostile}.gone`]);
    expect(missing.err).toContain("a]0;title2J.jsonl.gone does not exist");
    for (const shown of [replayed.out, missing.err]) expect(shown).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  it("colours both halves where colours are asked for", async () => {
    const { out } = await run(["replay", testFile([toolConversation("a", 2)]), ...(await store())], {
      FORCE_COLOR: "1",
    });
    const [first, second] = out.split("Half-way");
    expect(first).toContain("\u001b[36muser");
    expect(second).toContain("\u001b[36muser");
  });

  it("exits with 1 and the number of a bad line, and replays the others", async () => {
    const file = testFile([toolConversation("a", 2), '{"id":"b"}', toolConversation("c", 2)]);
    const { status, out } = await run(["replay", "--quiet", file, ...(await store())]);
    expect(status).toBe(1);
    expect(out).toContain('input.jsonl, line 2: its "messages" are not a list with messages');
    expect(out).toContain("18 of 18 messages");
    expect(out).toContain("Nothing was lost, but: 1 line skipped.");
  });

  it.each([
    [["replay", "--max-tokens", "many"], 'max-tokens must be a positive whole number, not "many"'],
    [["replay", "--max-tokens", ""], 'max-tokens must be a positive whole number, not ""'],
    [["replay", "--columns", "1e2"], 'columns must be a positive whole number, not "1e2"'],
    [["replay", "--nonsense"], "Unknown option '--nonsense'"],
    [["replay", "--second-half"], "only for the process that a replay starts"],
    [["replay", "missing.jsonl"], "missing.jsonl does not exist"],
    [["replya"], 'unknown command "replya"'],
    [[], "turnkeep replay [FILE.jsonl ...]"],
  ])("exits with 2 for %j", async (args, message) => {
    const { status, out, err } = await inProcess(args);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("    at ");
  });

  it("exits with 2 where no line is to be replayed", async () => {
    const file = testFile(["", "  "]);
    expect(await run(["replay", file])).toEqual({
      status: 2,
      out: "",
      err: `turnkeep: No conversation in ${file}: nothing to replay.\n`,
    });
  });

  it("says how it is used, and its version", async () => {
    expect(await run(["--help"])).toMatchObject({
      status: 0,
      err: "",
      out: expect.stringContaining("--max-tokens N"),
    });
    expect(await run(["replay", "-h"])).toMatchObject({
      status: 0,
      out: expect.stringContaining("Exit status"),
    });
    expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("goes on after it was killed, without a message lost or added twice", async () => {
    const file = testFile([toolConversation("a", 12), toolConversation("b", 12)]);
    const args = ["replay", file, ...(await store()), "--run", "night"];
    const killed = start(args);
    await killed.shown("turn 5 ");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const { status, out } = await run(args);
    expect(out).toMatch(/goes on at turn \d/);
    expect(out).toContain("98 of 98 messages, each once, in order, with equal content");
    expect(status).toBe(0);
  });

  it("removes its temporary folder when it is stopped, and takes the second process along", async () => {
    const temporary = testFolder();
    const file = testFile([toolConversation("a", 24)]);
    const env = { TMPDIR: temporary, NODE_NO_WARNINGS: "1" };
    const stopped = startProgram([command, "replay", file], env, newerNode());
    const out = await stopped.shown("goes on at turn");
    const second = Number(/A second process \((\d+)\)/.exec(out)?.[1]);
    expect(isRunning(second)).toBe(true);
    stopped.child.kill("SIGTERM");
    expect((await stopped.ended).status).toBe(130);
    await expect.poll(() => isRunning(second), { timeout: 20_000 }).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("can be started through a link, as package managers do", async () => {
    const link = join(testFolder(), "turnkeep");
    symlinkSync(command, link);
    const started = start(
      ["replay", "--quiet", testFile([toolConversation("a", 2)]), ...(await store())],
      {},
      link,
    );
    expect((await started.ended).status).toBe(0);
  });

  it("replays into a Postgres server and never shows its password", async () => {
    const url = new URL(await emptyDatabase());
    url.password ||= "hidden-word";
    const args = ["replay", testFile([toolConversation("a", 4)]), "--store", url.href, "--run", "r1"];
    const first = await run(args);
    expect(first).toMatchObject({ status: 0, err: "" });
    expect(first.out).toContain("17 of 17 messages");
    expect(first.out + first.err).not.toContain(url.password);
    expect((await run(args)).out).toContain("0 views");
  });

  it("tells the second process of a store, but not where everybody can read its password", async () => {
    const url = new URL(await emptyDatabase());
    url.password ||= "hidden-word";
    const folder = testFolder();
    const program = join(folder, "second.mjs");
    writeFileSync(
      program,
      `import { writeFileSync } from "node:fs";
      writeFileSync(new URL("seen.json", import.meta.url), JSON.stringify([process.argv, process.env]));`,
    );
    const replayed = replay({ files: [testFile([toolConversation("a", 2)])], store: url.href, program });
    await expect(replayed).rejects.toThrow("before it had checked the store");
    const [line, environment] = JSON.parse(readFileSync(join(folder, "seen.json"), "utf8"));
    expect(line).toContain("--second-half");
    expect(line.join(" ")).not.toContain(url.password);
    expect(Object.values(environment)).toContain(url.href);
  });

  it("ends when the second process fails", async () => {
    const database = await createDatabase(inject("postgresUrl"));
    const started = start(["replay", testFile([toolConversation("a", 60)]), "--store", database.url]);
    await started.shown("A second process");
    await database.drop();
    const { status, err } = await started.ended;
    expect(status).toBe(1);
    expect(err).toContain("The second process ended with status 1 before it had checked the store.");
  });

  it("starts a second process of its own where the first runs a program given as text", async () => {
    const code = `process.argv.splice(1, 0, ""); import(${JSON.stringify(pathToFileURL(command).href)})`;
    const args = ["replay", "--quiet", testFile([toolConversation("a", 2)]), ...(await store())];
    const { status, err, out } = await start(args, {}, "-e", code).ended;
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain("Nothing was lost.");
  });

  it.each([
    " postgres://u:hidden-word@127.0.0.1:1/db",
    '"postgres://u:hidden-word@127.0.0.1:1/db"',
    "postgres:/u:hidden-word@127.0.0.1:1/db",
    "mongodb+srv:u:hidden-word@127.0.0.1",
  ])("takes %j for no folder, and does not show it", async (store) => {
    const { status, err, out } = await inProcess(["replay", "--store", store]);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toMatch(/^turnkeep: store is no folder and no address .*\n$/);
    expect(err).not.toContain("hidden-word");
  });

  it("says that a server does not answer, and the driver's own words in a line of their own", async () => {
    const { status, err, out } = await run(["replay", "--store", "postgres://u:hidden-word@127.0.0.1:1/db"]);
    expect(status).toBe(1);
    expect(err).toMatch(
      /^turnkeep: STORE_UNAVAILABLE: postgresStore: .*\n {2}cause: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
    );
    expect(out + err).not.toContain("hidden-word");
  });

  it("says what a server refuses", async () => {
    const url = new URL(inject("postgresUrl"));
    url.pathname = "/no-such-database";
    const { status, err } = await run(["inspect", "--store", url.href]);
    expect(status).toBe(1);
    expect(err).toMatch(
      /^turnkeep: STORE_\w+: .*\n {2}cause: 3D000: database "no-such-database" does not exist\n$/,
    );
  });
});

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
