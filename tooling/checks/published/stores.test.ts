import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examplesOf } from "../src/published/examples.mjs";
import { UserProject } from "../src/published/project.mjs";
import { root } from "../src/runner/workspace.mjs";
import { readTree } from "../src/structure/tree.mjs";
import { packed } from "./in-project.ts";

/** The whole kit runs in each of them. */
const timeout = 600_000;

const command = ["--no", "turnkeep-conformance"];
const ownTestsRunThemAll = ["basic", "order", "versions"].flatMap((name) => ["--group", name]);

const partOfTheKit = /^Passed a part of the kit \(\d+ of \d+ cases\): \d+ passed(, \d+ skipped)?; seed \d+$/m;

const tree = readTree(root);

describe("templates/store, as a third party begins with it", () => {
  const project = UserProject.create();
  const [example] = examplesOf(tree.read("templates/store/README.md"));

  beforeAll(async () => {
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
  afterAll(() => project.remove());

  it("installs a driver that needs no compiler and no script", () => {
    expect([...project.installed().keys()]).toContain("@photostructure/sqlite");
  });

  it("has types that hold, its README's example included", async () => {
    await project.command("npm", ["run", "check"]);
  });

  it("passes its tests, the whole kit among them", { timeout }, async () => {
    const printed = await project.command("npm", ["test"]);
    expect(printed).toMatch(/Tests\s+\d{3} passed/);
  });

  it("conforms by the command", { timeout }, async () => {
    const groups = process.env.TURNKEEP_THOROUGH ? [] : ownTestsRunThemAll;
    const printed = await project.command("npx", [...command, "./test/harness.ts", ...groups]);
    expect(printed).toMatch(process.env.TURNKEEP_THOROUGH ? /^Conforms: \d+ passed/m : partOfTheKit);
    // Nothing is skipped for want of a harness: only what a store with every capability has no use for.
    const skipped = printed.split("\n").filter((line) => line.startsWith("skipped "));
    expect(skipped.filter((line) => !line.includes("(the store declares "))).toEqual([]);
  });

  it("runs its README's example", async () => {
    expect(await project.run("example.mjs", {})).toBe("2\n");
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
    const printed = await project.command("npx", [...command, "./harness.ts", ...ownTestsRunThemAll]);
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
