import ts from "typescript6";
import { filesFormNoCircle, foldersRunOneWay } from "./import-rules.mjs";

/**
 * Figures about the sources of the packages and of the template: how much there is to read and to learn.
 *
 * @param {import("./tree.mjs").Tree} tree
 */
export function figuresOf(tree) {
  const sources = tree.files.filter(isSource);
  const files = new Map(sources.map((file) => [file, codeLines(tree.read(file))]));
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const [file, lines] of files) {
    const name = file.split("/").slice(0, 2).join("/");
    for (const [figure, more] of /** @type {const} */ ([
      ["lines of code", lines],
      ["files", 1],
    ])) {
      totals.set(`${name}: ${figure}`, (totals.get(`${name}: ${figure}`) ?? 0) + more);
    }
  }
  totals.set(
    "lines of code in all",
    [...files.values()].reduce((sum, lines) => sum + lines, 0),
  );
  totals.set(
    "files of more than 300 lines of code",
    [...files.values()].filter((lines) => lines > 300).length,
  );
  totals.set("circles of files", filesFormNoCircle(tree).length);
  totals.set("circles of folders", foldersRunOneWay(tree).length);
  totals.set("exports of the store kit", exportsOf(tree, "packages/core/src/store-kit.ts"));
  totals.set("words of the glossary", wordsIn(tree.read("docs/architecture.md")));
  totals.set("type names with several meanings", homonymsOf(sources.map(tree.read)).length);
  return { files, totals };
}

/**
 * The files that a change touched: sources, and all others.
 *
 * @param {readonly string[]} files
 */
export function filesOfChange(files) {
  const touched = files.filter((file) => file !== "");
  return { sources: touched.filter(isSource), others: touched.filter((file) => !isSource(file)) };
}

/** @param {string} file */
function isSource(file) {
  return /^(?:packages|templates)\/[^/]+\/src\/.*\.ts$/.test(file);
}

/**
 * How many lines hold code: comments and blank lines are none.
 *
 * @param {string} text
 */
export function codeLines(text) {
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(file) === 0) return;
    const { line: last } = file.getLineAndCharacterOfPosition(node.getEnd());
    for (let { line } = file.getLineAndCharacterOfPosition(node.getStart(file)); line <= last; line++)
      lines.add(line);
  };
  visit(file);
  return lines.size;
}

/**
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} file
 */
function exportsOf(tree, file) {
  if (!tree.files.includes(file)) return 0;
  const { statements } = ts.createSourceFile(file, tree.read(file), ts.ScriptTarget.Latest);
  return statements.reduce((sum, statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    return sum + (clause !== undefined && ts.isNamedExports(clause) ? clause.elements.length : 0);
  }, 0);
}

/**
 * The rows of the table under the heading "Words".
 *
 * @param {string} text
 */
function wordsIn(text) {
  const [, section = ""] = text.split(/^## Words$/m);
  return (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => /^\| \*\*/.test(line)).length;
}

/**
 * The names of types that more than one file declares.
 *
 * @param {readonly string[]} texts
 */
export function homonymsOf(texts) {
  /** @type {Map<string, number>} */
  const declared = new Map();
  for (const text of texts) {
    const names = new Set(
      Array.from(text.matchAll(/^(?:export )?(?:interface|type|class) (\w+)/gm), ([, name = ""]) => name),
    );
    for (const name of names) declared.set(name, (declared.get(name) ?? 0) + 1);
  }
  return [...declared].flatMap(([name, count]) => (count > 1 ? [name] : []));
}
