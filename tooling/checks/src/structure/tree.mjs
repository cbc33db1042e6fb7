import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { workspacePackages } from "../runner/workspace.mjs";

/**
 * @typedef {object} Tree a repository, as the rules see it
 * @property {readonly string[]} files relative to the top, with forward slashes
 * @property {Record<string, any>} manifest of the workspace
 * @property {readonly import("../runner/workspace.mjs").WorkspacePackage[]} packages
 * @property {(file: string) => string} read
 */

/**
 * @typedef {(tree: Tree) => string[]} Rule answers one line for each place that breaks it: where, what, what to do
 */

/**
 * The repository at `top`. Its files are those that git knows or would add; where there is no git, all files but
 * what an installation or a build makes.
 *
 * @param {string} top
 * @returns {Tree}
 */
export function readTree(top) {
  const files = existsSync(join(top, ".git")) ? filesOfGit(top) : [...walk(top, "")];
  return {
    files: files.sort(),
    manifest: JSON.parse(readFileSync(join(top, "package.json"), "utf8")),
    packages: workspacePackages(top),
    read: (file) => readFileSync(join(top, file), "utf8"),
  };
}

/**
 * The repository as it was at a commit; its packages are those of today that were there.
 *
 * @param {string} top
 * @param {string} commit
 * @returns {Tree}
 */
export function readTreeAt(top, commit) {
  /** @param {readonly string[]} args */
  const git = (...args) => execFileSync("git", args, { cwd: top, encoding: "utf8", maxBuffer: 1 << 28 });
  const files = git("ls-tree", "-r", "-z", "--name-only", commit).split("\0").filter(Boolean);
  const known = new Set(files);
  /** @type {Map<string, string>} */
  const texts = new Map();
  /** @param {string} file */
  const read = (file) => {
    const text = texts.get(file) ?? git("show", `${commit}:${file}`);
    texts.set(file, text);
    return text;
  };
  const packages = workspacePackages(top).filter(({ folder }) => known.has(`${folder}/package.json`));
  return { files: files.sort(), manifest: JSON.parse(read("package.json")), packages, read };
}

/**
 * The page of the repository, which its manifest names.
 *
 * @param {Tree} tree
 */
export function pageOf(tree) {
  return String(tree.manifest.repository?.url).replace(/^git\+|\.git$/g, "");
}

/**
 * The packages that are published.
 *
 * @param {Tree} tree
 */
export function publicPackages(tree) {
  return tree.packages.filter(({ manifest }) => manifest.private !== true);
}

/** @param {string} top */
function filesOfGit(top) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const output = execFileSync("git", args, { cwd: top, encoding: "utf8", maxBuffer: 1 << 28 });
  // A link to a folder, say to another checkout's node_modules, counts as a file for git.
  return output
    .split("\0")
    .filter((file) => file !== "" && statSync(join(top, file), { throwIfNoEntry: false })?.isFile());
}

const made = new Set(["node_modules", "dist", ".turbo", ".cache", "coverage"]);

/**
 * @param {string} top
 * @param {string} folder
 * @returns {Generator<string>}
 */
function* walk(top, folder) {
  for (const entry of readdirSync(join(top, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (made.has(entry.name)) continue;
    if (entry.isDirectory()) yield* walk(top, path);
    else yield path;
  }
}
