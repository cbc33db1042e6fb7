import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "@turnkeep/servers";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { examplesOf } from "../src/published/examples.mjs";
import { treeOf, UserProject } from "../src/published/project.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";

const packed = new Map(inject("packed").map(({ name, tarball }) => [name, tarball]));
const documents = ["README.md", ...workspacePackages().map(({ folder }) => `${folder}/README.md`)]
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, examples: examplesOf(readFileSync(join(root, path), "utf8")) }));

/** Core and the stores have no dependencies of their own: a user's driver is all that comes with them. */
const bringsNothing = /^@turnkeep\/(?:core|store-\w+)$/;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

describe("what a user installs", () => {
  it.each([
    { packages: ["@turnkeep/core"] },
    { packages: ["@turnkeep/core", "@turnkeep/store-postgres", "pg"] },
  ])("$packages brings nothing else, and its types hold by themselves", async ({ packages }) => {
    await inProject(packages, async (project) => {
      const ours = packages.filter((name) => packed.has(name));
      const code = ours.map((name) => `console.log(Object.keys(await import("${name}")).length > 0);\n`);
      const printed = await project.run(await project.compile(`export {};\n${code.join("")}`), {});
      expect(printed).toBe("true\n".repeat(ours.length));
    });
  });
});

it("finds an example at the beginning of the README", () => {
  expect(documents[0]?.path).toBe("README.md");
  expect(documents[0]?.examples.length).toBeGreaterThan(0);
});

describe.each(documents.filter(({ examples }) => examples.length > 0))("$path", ({ examples }) => {
  it.each(examples)("runs as printed: $title (line $line)", async ({ packages, code, output }) => {
    await inProject(packages, async (project) => {
      const database = await server.database();
      try {
        const printed = await project.run(await project.compile(code), { DATABASE_URL: database.url });
        if (output !== undefined) expect(printed.trimEnd()).toBe(output.trimEnd());
      } finally {
        await database.drop();
      }
    });
  });
});

/** An empty project with these packages, ours from their tarballs; core and the stores may bring no other. */
async function inProject(
  packages: readonly string[],
  use: (project: UserProject) => Promise<void>,
): Promise<void> {
  const project = UserProject.create();
  try {
    await project.install(packages.map((name) => packed.get(name) ?? `${name}@${versionOf(name)}`));
    const installed = project.installed();
    const libraries = packages.filter((name) => !bringsNothing.test(name));
    const expected = new Set([...packages, ...treeOf(libraries, installed)]);
    expect([...installed.keys()].sort()).toEqual([...expected].sort());
    await use(project);
  } finally {
    project.remove();
  }
}

/** The version of a library that the workspace itself is tested with. */
function versionOf(name: string): string {
  for (const { folder } of workspacePackages()) {
    const manifest = join(root, folder, "node_modules", name, "package.json");
    if (existsSync(manifest))
      return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  }
  throw new Error(`No package of the workspace depends on ${name}.`);
}
