import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "@turnkeep/servers";
import { describe, expect, inject, it } from "vitest";
import { blocksOfMarkdown } from "../src/documents/code-blocks.mjs";
import { examplesOf } from "../src/published/examples.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { inProject } from "./in-project.ts";

const documentsOfDocs = readdirSync(join(root, "docs"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`);
/** For users of other libraries: every block in them is a program. */
const guides = documentsOfDocs.filter((file) => file.startsWith("docs/coming-from-"));

type Example = ReturnType<typeof examplesOf>[number];

/** Each guide for others installs the library that its users come from. The types of all are checked at every run. */
const run = process.env.TURNKEEP_THOROUGH ? documentsOfDocs : [];
const documents = ["README.md", ...workspacePackages().map(({ folder }) => `${folder}/README.md`), ...run]
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, examples: examplesOf(readFileSync(join(root, path), "utf8")) }));

it("finds an example at the beginning of the README", () => {
  expect(documents[0]?.path).toBe("README.md");
  expect(documents[0]?.examples.length).toBeGreaterThan(0);
});

it.each(guides)("%s runs each of its code blocks", (path) => {
  const markdown = readFileSync(join(root, path), "utf8");
  const lines = examplesOf(markdown).map(({ line }) => line);
  expect(blocksOfMarkdown(path, markdown).map(({ line }) => line)).toEqual(lines);
  expect(lines.length).toBeGreaterThan(0);
  expect(markdown).not.toMatch(/^\s*`{3,}(?!ts$|text$|$)/m);
});

/** All examples by what is installed for them, so that it is installed once. */
const byPackages = new Map<string, { readonly path: string; readonly example: Example }[]>();
for (const { path, examples } of documents) {
  for (const example of examples) {
    const key = [...example.packages].sort().join(", ");
    byPackages.set(key, [...(byPackages.get(key) ?? []), { path, example }]);
  }
}

it("has an example of each thing that a user may begin with, so that nothing else comes with it", () => {
  const begun = [
    "@turnkeep/core",
    "@turnkeep/assistant, @turnkeep/core",
    "@turnkeep/core, @turnkeep/store-postgres, pg",
  ];
  expect([...byPackages.keys()]).toEqual(expect.arrayContaining(begun));
});

describe.each([...byPackages])("with %s, which brings nothing else", (packages, programs) => {
  it(`runs as printed: ${programs.map(({ path, example: { line } }) => `${path}:${line}`).join(", ")}`, async () => {
    await inProject(packages.split(", "), async (project) => {
      for (const { path, example } of programs) {
        const { line, code, output } = example;
        const database = await createDatabase(inject("postgresUrl"));
        try {
          const printed = await project.run(await project.compile(code), { DATABASE_URL: database.url });
          if (output !== undefined) expect(printed.trimEnd(), `${path}:${line}`).toBe(output.trimEnd());
        } finally {
          await database.drop();
        }
      }
    });
  });
});
