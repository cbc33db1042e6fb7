import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOfMarkdown, blocksOfSource } from "../src/documents/code-blocks.mjs";
import { typeErrorsOf } from "../src/documents/type-errors.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { readTree } from "../src/structure/tree.mjs";

const fence = "```";
const packages = workspacePackages();
const publicFolders = packages
  .filter(({ manifest }) => manifest.private !== true)
  .map(({ folder }) => folder);
/** Examples at the top of the repository may use every package of ours, and the providers' that formats are tested with. */
const workspace = { top: root, packages, fallback: "packages/formats" };

describe("the code blocks of a Markdown document", () => {
  it("are those in TypeScript that can stand alone", () => {
    const markdown = [
      "# Title",
      `${fence}sh`,
      "npm test",
      fence,
      `${fence}ts`,
      "one();",
      fence,
      `${fence}ts no-check`,
      "...",
      fence,
      `- ${"item"}`,
      `  ${fence}ts`,
      "  two(() => {",
      "    three();",
      "  });",
      `  ${fence}`,
    ].join("\n");
    expect(blocksOfMarkdown("a.md", markdown)).toEqual([
      { file: "a.md", line: 6, code: "one();\n" },
      { file: "a.md", line: 13, code: "two(() => {\n  three();\n});\n" },
    ]);
  });

  it("must end", () => {
    expect(() => blocksOfMarkdown("a.md", `\n${fence}ts\none();\n`)).toThrow("a.md:2 begins a code block");
  });
});

it("finds the code blocks of docstrings, not of other comments or of code", () => {
  const source = [
    "export const a = 1;",
    "/**",
    " * What it does.",
    " *",
    " * @example",
    ` * ${fence}ts`,
    ' * import { b } from "b";',
    " *",
    " * b(); // done",
    ` * ${fence}`,
    " */",
    "export const b = 2;",
    `/* ${fence}ts`,
    `c(); ${fence} */`,
    `const text = "${fence}ts";`,
  ].join("\n");
  expect(blocksOfSource("a.ts", source)).toEqual([
    { file: "a.ts", line: 7, code: 'import { b } from "b";\n\nb(); // done\n' },
  ]);
});

describe("the type check of code blocks", () => {
  it("says where a block is wrong, and of which block", () => {
    const right = {
      file: "README.md",
      line: 10,
      code: 'import { user } from "@turnkeep/core";\nconst { role } = user("a");\nrole satisfies "user";\n',
    };
    const wrong = {
      file: "packages/core/src/a.ts",
      line: 20,
      code: 'import { system } from "@turnkeep/core";\nsystem(1);\n',
    };
    const unknown = { file: "README.md", line: 30, code: 'import "@turnkeep/nothing";\n' };
    const broken = { file: "README.md", line: 40, code: "const = 1;\n" };
    const errors = typeErrorsOf([right, wrong, unknown, broken], workspace);
    expect(errors.get(right)).toEqual([]);
    expect(errors.get(wrong)).toEqual([expect.stringMatching(/^packages\/core\/src\/a\.ts:21 TS2345: /)]);
    expect(errors.get(unknown)).toEqual([
      expect.stringMatching(/^README\.md:30 TS\d+: .*@turnkeep\/nothing/),
    ]);
    expect(errors.get(broken)?.[0]).toMatch(/^README\.md:40 TS1134: /);
  }, 120_000);
});

describe("what the repository shows", () => {
  const blocks = readTree(root).files.flatMap((file) => {
    const read = () => readFileSync(join(root, file), "utf8");
    if (/(?:^|\/)README\.md$|^docs\/[^/]+\.md$/.test(file)) return blocksOfMarkdown(file, read());
    const inSources = publicFolders.some((folder) => file.startsWith(`${folder}/src/`));
    return inSources && file.endsWith(".ts") ? blocksOfSource(file, read()) : [];
  });

  it("has examples in its documents and in its docstrings", () => {
    expect(blocks.filter(({ file }) => file === "README.md").length).toBeGreaterThan(0);
    expect(blocks.filter(({ file }) => file.startsWith("packages/core/src/")).length).toBeGreaterThan(0);
  });

  it("compiles as printed", () => {
    const errors = typeErrorsOf(blocks, workspace);
    expect(errors.size).toBe(blocks.length);
    expect([...errors.values()].flat()).toEqual([]);
  }, 180_000);
});

it.each(["docs/errors.md", "packages/assistant/src/errors.ts"])(
  "%s has a row for each code of the assistant",
  (path) => {
    const source = readFileSync(join(root, "packages/assistant/src/errors.ts"), "utf8");
    const codes = Array.from(source.matchAll(/^ {2}\| "([A-Z_]+)"/gm), ([, code]) => code);
    const [text, section = text] = readFileSync(join(root, path), "utf8").split("## The assistant's");
    const rows = Array.from(section?.matchAll(/^(?: \* )?\| `([A-Z_]+)` \|/gm) ?? [], ([, code]) => code);
    expect(codes.length).toBeGreaterThan(10);
    expect(rows).toEqual(codes);
  },
);

/** npm installs a package's peers with it, but for those that are optional. */
it.each(packages.filter(({ folder }) => publicFolders.includes(folder)))(
  "the README of $name installs what its first program imports",
  ({ folder, manifest }) => {
    const text = readFileSync(join(root, folder, "README.md"), "utf8");
    const named = Array.from(text.matchAll(/npm install ([^`\n]+)/g), ([, names = ""]) => names.split(" "));
    const [, program = ""] = /^```tsx?\n(.*?)^```/ms.exec(text) ?? [];
    const imported = Array.from(program.matchAll(/ from "((?:@[^/"]+\/)?[^/"]+)/g), ([, name]) => name);
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    expect([...named.flat(), ...peers]).toEqual(expect.arrayContaining(imported));
  },
);
