import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "@turnkeep/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examplesOf } from "../src/published/examples.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { inProject, packed } from "./in-project.ts";

const guides = readdirSync(join(root, "docs")).filter((name) => /^coming-from-.*\.md$/.test(name));
const documents = [
  "README.md",
  ...workspacePackages().map(({ folder }) => `${folder}/README.md`),
  ...guides.map((name) => `docs/${name}`),
]
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, examples: examplesOf(readFileSync(join(root, path), "utf8")) }));

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

describe("what a user installs", () => {
  it.each([
    { packages: ["@turnkeep/core"] },
    { packages: ["@turnkeep/core", "@turnkeep/assistant"] },
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
