import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "@turnkeep/servers";
import { describe, expect, inject, it } from "vitest";
import { blocksOfMarkdown } from "../src/documents/code-blocks.mjs";
import { examplesOf } from "../src/published/examples.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { inProject, packed } from "./in-project.ts";

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

it.each(guides)("%s runs each of its code blocks", (path) => {
  const markdown = readFileSync(join(root, path), "utf8");
  const lines = examplesOf(markdown).map(({ line }) => line);
  expect(blocksOfMarkdown(path, markdown).map(({ line }) => line)).toEqual(lines);
  expect(lines.length).toBeGreaterThan(0);
  expect(markdown).not.toMatch(/^\s*`{3,}(?!ts$|text$|$)/m);
});

/** The examples of a document by what is installed for them, so that it is installed once. */
function byPackages(
  examples: readonly Example[],
): { lines: string; packages: readonly string[]; programs: Example[] }[] {
  const groups = new Map<string, Example[]>();
  for (const example of examples) {
    const key = example.packages.join(", ");
    groups.set(key, [...(groups.get(key) ?? []), example]);
  }
  return [...groups.values()].map((programs) => ({
    lines: programs.map(({ line }) => line).join(", "),
    packages: programs[0]?.packages ?? [],
    programs,
  }));
}

describe.each(documents.filter(({ examples }) => examples.length > 0))("$path", ({ examples }) => {
  it.each(byPackages(examples))(
    "runs as printed: lines $lines, with $packages",
    async ({ packages, programs }) => {
      await inProject(packages, async (project) => {
        for (const { line, code, output } of programs) {
          const database = await createDatabase(inject("postgresUrl"));
          try {
            const printed = await project.run(await project.compile(code), { DATABASE_URL: database.url });
            if (output !== undefined) expect(printed.trimEnd(), `line ${line}`).toBe(output.trimEnd());
          } finally {
            await database.drop();
          }
        }
      });
    },
  );
});
