import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type MariaDbServer, startMariaDb } from "@turnkeep/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examplesOf } from "../src/published/examples.mjs";
import { UserProject } from "../src/published/project.mjs";
import { root } from "../src/runner/workspace.mjs";
import { readTree } from "../src/structure/tree.mjs";
import { packed } from "./in-project.ts";

/** The whole kit runs in each of them. */
const timeout = 600_000;

const command = ["--no", "turnkeep-conformance"];
const partly = ["basic", "order"];
/** What a statement of the template's may get wrong; the thorough run takes the whole kit, by vitest too. */
const ofAServer = [...partly, "atomicity", "versions", "history"];
const groupsOf = (names: readonly string[]): string[] => names.flatMap((name) => ["--group", name]);

const partOfTheKit = /^Passed a part of the kit \(\d+ of \d+ cases\): \d+ passed(, \d+ skipped)?; seed \d+$/m;

const tree = readTree(root);
const isThorough = Boolean(process.env.TURNKEEP_THOROUGH);

/** Four writers on four memories, whose adds are repeated while the server is away, and what is there at the end. */
const writes = `
import { createChatMemory, user } from "@turnkeep/core";
import { mariaDbStore } from "./dist/index.js";

const store = mariaDbStore({ url: process.env.DATABASE_URL, prefix: "kept_" });
const untilDone = async (call) => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.code !== "STORE_UNAVAILABLE") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
};
await untilDone(() => store.migrate());
const texts = [];
await Promise.all([1, 2, 3, 4].map(async (writer) => {
  const memory = createChatMemory({ id: String(writer), store, timeoutMs: 120_000 });
  for (let count = 0; count < 100; count++) await memory.add(user(writer + "-" + count));
  for await (const page of memory.historyPages()) texts.push(...page.messages.map(({ message }) => message.content));
}));
console.log(texts.length + " of 400, " + (new Set(texts).size === texts.length ? "each once" : "some twice"));
await store.close();
`;

describe("templates/store, as a third party begins with it", () => {
  const project = UserProject.create();
  const [example] = examplesOf(tree.read("templates/store/README.md"));
  let server: MariaDbServer;

  beforeAll(async () => {
    server = await startMariaDb();
    project.copy("templates/store");
    project.useTarballs(packed);
    if (example === undefined) throw new Error("The template's README shows no example.");
    // Among the tests, so that its type check covers it; without types of its own, so that Node runs it as it is.
    for (const file of ["test/example.ts", "example.mjs"]) {
      writeFileSync(join(project.folder, file), example.code);
    }
    await project.install([]);
    await project.command("npm", ["run", "build"]);
  });
  afterAll(async () => {
    await server?.stop();
    project.remove();
  });

  it("installs a driver that needs no compiler and no script", () => {
    expect([...project.installed().keys()]).toContain("mysql2");
  });

  it("has types that hold, its README's example included", async () => {
    await project.command("npm", ["run", "check"]);
  });

  it("passes its tests", { timeout }, async () => {
    const withoutTheKit = isThorough ? [] : ["--", "--exclude=test/conformance.test.ts"];
    const printed = await project.command("npm", ["test", ...withoutTheKit], { MARIADB_URL: server.url });
    expect(printed).toMatch(/Tests\s+\d{2,3} passed/);
  });

  it("conforms by the command", { timeout }, async () => {
    const groups = isThorough ? [] : groupsOf(ofAServer);
    const env = { MARIADB_URL: server.url };
    const printed = await project.command("npx", [...command, "./test/harness.ts", ...groups], env);
    expect(printed).toMatch(isThorough ? /^Conforms: \d+ passed/m : partOfTheKit);
    // Nothing is skipped for want of a harness: only what a store with every capability has no use for.
    const skipped = printed.split("\n").filter((line) => line.startsWith("skipped "));
    expect(skipped.filter((line) => !line.includes("(the store declares "))).toEqual([]);
  });

  it.runIf(isThorough)("passes its tests on the newest long-term release", { timeout }, async () => {
    const newest = await startMariaDb({ release: "11.4", sources: ["docker", "cache"] });
    try {
      await project.command("npm", ["test"], { MARIADB_URL: newest.url });
    } finally {
      await newest.stop();
    }
  });

  it.runIf(isThorough)("keeps what it acknowledged while the server is killed", { timeout }, async () => {
    const killed = await startMariaDb({ sources: ["machine", "cache"] });
    try {
      writeFileSync(join(project.folder, "writes.mjs"), writes);
      const written = project.run("writes.mjs", { DATABASE_URL: killed.url });
      const isOver = written.then(
        () => true,
        () => true,
      );
      for (let restarts = 0; restarts < 10; restarts++) {
        await killed.restart();
        if (await Promise.race([isOver, delay(500, false)])) break;
      }
      expect(await written).toBe("400 of 400, each once\n");
    } finally {
      await killed.stop();
    }
  });

  it("runs its README's example", async () => {
    expect(await project.run("example.mjs", { DATABASE_URL: server.url })).toBe("2\n");
  });
});

it("the smallest store conforms by the command, outside of the workspace", { timeout }, async () => {
  const project = UserProject.create();
  try {
    const tarballs = ["@turnkeep/core", "@turnkeep/conformance"].map((name) => packed.get(name) ?? name);
    await project.install([...tarballs, `@electric-sql/pglite@${versionInCatalog("@electric-sql/pglite")}`]);
    writeFileSync(join(project.folder, "my-store.ts"), tree.read("examples/smallest-store/src/my-store.ts"));
    writeFileSync(
      join(project.folder, "harness.ts"),
      `import { PGlite } from "@electric-sql/pglite";
import { myStore, schema } from "./my-store.ts";

const database = new PGlite();
export default {
  async create({ ttlMs }: { ttlMs?: number }) {
    await database.exec(schema);
    return myStore(database, { ttlMs });
  },
  destroy: () => database.close(),
};
`,
    );
    const printed = await project.command("npx", [...command, "./harness.ts", ...groupsOf(partly)]);
    expect(printed).toMatch(partOfTheKit);
  } finally {
    project.remove();
  }
});

function versionInCatalog(name: string): string {
  const line = tree
    .read("pnpm-workspace.yaml")
    .split("\n")
    .find((entry) => entry.trim().startsWith(`"${name}":`));
  if (line === undefined) throw new Error(`The catalog has no ${name}.`);
  return line.slice(line.lastIndexOf(" ") + 1);
}
