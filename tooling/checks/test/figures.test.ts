import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../src/runner/workspace.mjs";
import { codeLines, figuresOf, filesOfChange, homonymsOf } from "../src/structure/figures.mjs";
import { readTreeAt } from "../src/structure/tree.mjs";

test("a line of code holds code: comments and blank lines do not count, texts over several lines do", () => {
  const text = `
/** A comment
 * of several lines. */
export function ask(): string { // one
  // none

  return \`two

    four\${"//"}\`;
}
`;
  expect(codeLines(text)).toBe(5);
  expect(codeLines("/* nothing */\n")).toBe(0);
});

test("a homonym is declared in more than one file", () => {
  expect(
    homonymsOf(["interface A {}\nexport type B = 1;\ntype B2 = 2", "class A {}", "export type C = A;"]),
  ).toEqual(["A"]);
});

test("a change's sources are told from the rest", () => {
  expect(filesOfChange(["packages/core/src/a.ts", "packages/core/test/a.test.ts", "README.md", ""])).toEqual({
    sources: ["packages/core/src/a.ts"],
    others: ["packages/core/test/a.test.ts", "README.md"],
  });
});

test("figures are of sources alone, by package", () => {
  const files: Record<string, string> = {
    "packages/core/src/store-kit.ts": 'export { a, type B } from "./a.ts";\n',
    "packages/core/src/a.ts": "export type B = 1;\nexport const a = 1;\n",
    "packages/core/test/a.test.ts": "a;\n",
    "docs/architecture.md":
      "# A\n\n## Words\n\n| word | meaning |\n|---|---|\n| **step** | one |\n\n## More\n\n| **no** | word |\n",
  };
  const tree = {
    files: Object.keys(files),
    manifest: {},
    packages: [],
    read: (file: string) => files[file] ?? "",
  };
  const { totals } = figuresOf(tree);
  expect(totals.get("packages/core: lines of code")).toBe(3);
  expect(totals.get("packages/core: files")).toBe(2);
  expect(totals.get("exports of the store kit")).toBe(2);
  expect(totals.get("words of the glossary")).toBe(1);
});

test.skipIf(!hasHistory())("a commit is read without being checked out", () => {
  const tree = readTreeAt(root, "HEAD");
  expect(tree.files).toContain("tooling/checks/src/structure/tree.mjs");
  expect(tree.read("package.json")).toContain("turnkeep-workspace");
});

/** An archive of the repository has none. */
function hasHistory(): boolean {
  try {
    execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
