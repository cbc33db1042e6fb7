import { builtinModules } from "node:module";
import { posix } from "node:path";
import ts from "typescript6";

const nodeBuiltIns = new Set(builtinModules);
const webOnly = new Set([
  "core",
  "formats",
  "tokens",
  "assistant",
  "ai-sdk",
  "assistant-ui",
  "google-adk",
  "langchain",
  "openai-agents",
  "tanstack-ai",
]);

/**
 * @typedef {object} Import
 * @property {string} file the importing file
 * @property {string} from what it names
 * @property {import("../runner/workspace.mjs").WorkspacePackage} package_ the importing file's
 * @property {"src" | "test" | "other"} place
 */

/**
 * Relative imports stay inside the package and, from its sources, inside `src`; a sibling is used by its name.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function relativeImportsStayInside(tree) {
  return importsOf(tree).flatMap(({ file, from, package_, place }) => {
    if (!from.startsWith(".")) return [];
    const target = posix.join(posix.posix.dirname(file), from);
    const home = place === "src" ? `${package_.folder}/src/` : `${package_.folder}/`;
    if (place === "other" || isConfiguration(file) || target.startsWith(home)) return [];
    return [`${file} imports ${from}, which is outside ${home}: import the package by its name.`];
  });
}

/**
 * Nobody reaches into another package's files.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function noDeepImports(tree) {
  return importsOf(tree).flatMap(({ file, from }) => {
    const owner = tree.packages.find(({ name }) => from.startsWith(`${name}/`));
    if (owner === undefined) return [];
    const entry = `.${from.slice(owner.name.length)}`;
    if (Object.keys(owner.manifest.exports ?? {}).includes(entry)) return [];
    return [`${file} imports ${from}, which ${owner.name} does not export: use what its index exports.`];
  });
}

/**
 * What is imported is declared: in `dependencies` or `peerDependencies` for the sources of a public package; tests
 * and tools may use development dependencies too, their package's and the workspace's.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function importsAreDeclared(tree) {
  return importsOf(tree).flatMap(({ file, from, package_, place }) => {
    if (from.startsWith(".") || isNodeBuiltIn(from)) return [];
    const name = packageNameOf(from);
    if (name === package_.name) return [];
    const { folder, manifest } = manifestFor(file, package_, tree);
    const { dependencies, peerDependencies, devDependencies } = manifest;
    const shipped = { ...dependencies, ...peerDependencies };
    const forUse = place === "src" && package_.manifest.private !== true && !isConfiguration(file);
    const known = forUse ? shipped : { ...shipped, ...devDependencies, ...tree.manifest.devDependencies };
    if (name in known) return [];
    const kind = place === "src" ? "dependencies or peerDependencies" : "devDependencies";
    return [`${file} imports ${from}: ${folder}/package.json does not list ${name} in ${kind}.`];
  });
}

/**
 * What is measured beside ours has a manifest of its own within a package's folder, and is no part of the workspace.
 *
 * @param {string} file
 * @param {import("../runner/workspace.mjs").WorkspacePackage} package_
 * @param {import("./tree.mjs").Tree} tree
 */
function manifestFor(file, package_, tree) {
  for (
    let folder = posix.dirname(file);
    folder.startsWith(`${package_.folder}/`);
    folder = posix.dirname(folder)
  ) {
    const nested = `${folder}/package.json`;
    if (tree.files.includes(nested)) return { folder, manifest: JSON.parse(tree.read(nested)) };
  }
  return package_;
}

/**
 * Core imports no sibling, not even in its tests.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function coreStandsAlone(tree) {
  const siblings = new Set(tree.packages.map(({ name }) => name));
  return importsOf(tree).flatMap(({ file, from, package_, place }) => {
    if (shortName(package_) !== "core" || from.startsWith(".")) return [];
    const name = packageNameOf(from);
    if (siblings.has(name) && name !== package_.name)
      return [`${file} imports ${from}: core knows no sibling.`];
    if (place === "src" && !isNodeBuiltIn(from)) return [`${file} imports ${from}: core depends on nothing.`];
    return [];
  });
}

/**
 * Core, formats, tokens, assistant and the bridges use web standards only.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function noNodeBuiltIns(tree) {
  return importsOf(tree).flatMap(({ file, from, package_, place }) =>
    webOnly.has(shortName(package_)) && place === "src" && isNodeBuiltIn(from)
      ? [`${file} imports ${from}: ${package_.name} runs where Node does not; use a web standard.`]
      : [],
  );
}

/**
 * The arrows between the packages: what the sources, and what the tests, of each kind of package may import of
 * the workspace. A kind that is not named here may import any.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function arrowsRunOneWay(tree) {
  const siblings = new Map(tree.packages.map((package_) => [package_.name, shortName(package_)]));
  return importsOf(tree).flatMap(({ file, from, package_, place }) => {
    const target = siblings.get(packageNameOf(from));
    const allowed = arrows(shortName(package_));
    if (target === undefined || allowed === undefined || package_.name === packageNameOf(from)) return [];
    const may = place === "src" ? allowed.src : [...allowed.src, ...allowed.test];
    if (may.includes(target)) return [];
    return [
      `${file} imports ${from}: ${place} of ${package_.name} may import only ${may.join(", ") || "none"}.`,
    ];
  });
}

/**
 * Inside a package the arrows between the folders of its sources run one way too: none imports, by whatever detour, what
 * imports it.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function foldersRunOneWay(tree) {
  const between = importsOf(tree).flatMap(({ file, from, package_, place }) => {
    if (place !== "src" || !from.startsWith(".")) return [];
    const source = folderOf(file, package_);
    const target = folderOf(posix.join(posix.dirname(file), from), package_);
    if (source === undefined || target === undefined || source === target) return [];
    return [{ file, from, source, target }];
  });
  /** @type {(source: string, goal: string, seen?: Set<string>) => boolean} */
  const leadsTo = (source, goal, seen = new Set()) =>
    source === goal ||
    between.some((one) => {
      if (one.source !== source || seen.has(one.target)) return false;
      seen.add(one.target);
      return leadsTo(one.target, goal, seen);
    });
  const inCircle = between.filter(({ source, target }) => leadsTo(target, source));
  const folders = [...new Set(inCircle.map(({ source }) => source))];
  const circles = new Set(
    folders.map((one) => folders.filter((other) => leadsTo(one, other) && leadsTo(other, one)).join()),
  );
  return [...circles].map((circle) => {
    const within = inCircle.filter(({ source }) => circle.split(",").includes(source));
    const imports = within.map(({ file, from }) => `${file} imports ${from}`);
    return `${circle.replaceAll(",", ", ")} import each other in a circle: ${imports.join("; ")}.`;
  });
}

/**
 * Nor do the files of a package's sources import each other in a circle, types apart: which of them is loaded first would
 * decide what the others find.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function filesFormNoCircle(tree) {
  const sources = tree.files.filter((file) => /^(?:packages|templates)\/[^/]+\/src\/.*\.ts$/.test(file));
  const known = new Set(sources);
  const imports = new Map(
    sources.map((file) => {
      const targets = valueImportsOf(tree.read(file)).map((from) => posix.join(posix.dirname(file), from));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
  return circlesOf(imports).map((circle) => `${circle.join(", ")} import each other in a circle.`);
}

/**
 * Each source of a package is imported, by whatever detour, by one that its manifest exports or its `tsdown.config.ts` builds.
 * Examples, tests and tools begin where they like.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function sourcesAreUsed(tree) {
  const imports = new Map(tree.files.map((file) => [file, /** @type {string[]} */ ([])]));
  for (const { file, from } of importsOf(tree)) {
    if (from.startsWith(".")) imports.get(file)?.push(posix.join(posix.dirname(file), from));
  }
  return tree.packages.flatMap(({ folder }) => {
    if (!/^(?:packages|templates)\//.test(folder)) return [];
    const entries = ["package.json", "tsdown.config.ts"]
      .map((name) => `${folder}/${name}`)
      .filter((file) => imports.has(file))
      .flatMap((file) => tree.read(file).match(/\bsrc\/[^"]+/g) ?? [])
      .map((entry) => `${folder}/${entry}`);
    const used = reachedFrom(entries, imports);
    return tree.files
      .filter((file) => file.startsWith(`${folder}/src/`) && !used.has(file))
      .map((file) => `${file} is imported by nothing that ${folder} exports or builds: remove it.`);
  });
}

/**
 * The relative imports and re-exports of a file that are there at run time.
 *
 * @param {string} text
 * @returns {string[]}
 */
function valueImportsOf(text) {
  const { statements } = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    const isRelative = moduleSpecifier.text.startsWith(".");
    return isRelative && !isTypesOnly(statement) ? [moduleSpecifier.text] : [];
  });
}

/** @param {ts.ImportDeclaration | ts.ExportDeclaration} statement */
function isTypesOnly(statement) {
  const clause = ts.isImportDeclaration(statement) ? statement.importClause : statement;
  if (clause?.isTypeOnly === true) return true;
  const names = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (names === undefined || !("elements" in names) || names.elements.length === 0) return false;
  const hasDefault = ts.isImportDeclaration(statement) && statement.importClause?.name !== undefined;
  return (
    !hasDefault && names.elements.every((/** @type {{ isTypeOnly: boolean }} */ { isTypeOnly }) => isTypeOnly)
  );
}

/**
 * The groups of two or more that lead to each other.
 *
 * @param {ReadonlyMap<string, readonly string[]>} imports
 * @returns {string[][]}
 */
function circlesOf(imports) {
  const reached = new Map(
    [...imports.keys()].map((file) => [file, reachedFrom(imports.get(file) ?? [], imports)]),
  );
  /** @type {(one: string, other: string) => boolean} */
  const leads = (one, other) => reached.get(one)?.has(other) === true;
  const circles = new Map();
  for (const file of imports.keys()) {
    if (!leads(file, file)) continue;
    const circle = [...imports.keys()].filter((other) => leads(file, other) && leads(other, file));
    circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

/**
 * These files, and all that they lead to.
 *
 * @param {readonly string[]} files
 * @param {ReadonlyMap<string, readonly string[]>} imports
 */
function reachedFrom(files, imports) {
  const seen = new Set();
  const pending = [...files];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...(imports.get(next) ?? []));
  }
  return seen;
}

/**
 * The folder of a package's sources that holds a file; `undefined` for one that lies in none.
 *
 * @param {string} file
 * @param {import("../runner/workspace.mjs").WorkspacePackage} package_
 */
function folderOf(file, { folder }) {
  const [inside, ...rest] = file.slice(`${folder}/src/`.length).split("/");
  return rest.length === 0 ? undefined : `${folder}/src/${inside}`;
}

/** @param {string} name */
function arrows(name) {
  if (name.startsWith("store-")) return { src: ["core"], test: ["conformance", "servers", "store-tests"] };
  if (name === "conformance") return { src: ["core"], test: ["servers"] };
  if (name === "assistant") {
    const stores = ["store-dynamo", "store-mongo", "store-postgres", "store-redis"];
    return { src: ["core"], test: ["formats", "model-servers", "servers", "store-tests", ...stores] };
  }
  if (name === "formats") return { src: ["core"], test: ["conformance"] };
  if (name === "tokens") return { src: ["core"], test: [] };
  return undefined;
}

/**
 * Every import and re-export in the sources, tests and configuration of the packages.
 *
 * @param {import("./tree.mjs").Tree} tree
 * @returns {Import[]}
 */
function importsOf(tree) {
  const known = cache.get(tree);
  if (known !== undefined) return known;
  const found = tree.packages.flatMap((package_) =>
    tree.files
      .filter((file) => file.startsWith(`${package_.folder}/`) && /\.(?:[cm]?[jt]s|tsx)$/.test(file))
      .flatMap((file) => {
        const inside = file.slice(package_.folder.length + 1);
        const place = inside.startsWith("src/") ? "src" : inside.startsWith("test/") ? "test" : "other";
        const { importedFiles } = ts.preProcessFile(tree.read(file), true, true);
        return importedFiles.map(
          ({ fileName }) => /** @type {Import} */ ({ file, from: fileName, package_, place }),
        );
      }),
  );
  cache.set(tree, found);
  return found;
}

/** @type {WeakMap<import("./tree.mjs").Tree, Import[]>} */
const cache = new WeakMap();

/** @param {import("../runner/workspace.mjs").WorkspacePackage} package_ */
function shortName({ folder }) {
  return folder.slice(folder.lastIndexOf("/") + 1);
}

/** @param {string} file */
function isConfiguration(file) {
  return /\.config\.[cm]?[jt]s$/.test(file);
}

/** @param {string} from */
function packageNameOf(from) {
  return from
    .split("/")
    .slice(0, from.startsWith("@") ? 2 : 1)
    .join("/");
}

/** @param {string} from */
function isNodeBuiltIn(from) {
  return from.startsWith("node:") || nodeBuiltIns.has(from);
}
