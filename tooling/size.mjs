/**
 * What a reader has to read, in figures: `node tooling/size.mjs` for the files as they are, `node tooling/size.mjs v1` beside
 * those of a commit, `--files` for each file. `node tooling/size.mjs --change main..branch` lists what a change touched.
 */

import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "./checks/src/runner/workspace.mjs";
import { figuresOf, filesOfChange } from "./checks/src/structure/figures.mjs";
import { readTree, readTreeAt } from "./checks/src/structure/tree.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { change: { type: "string" }, files: { type: "boolean", default: false } },
});

/** @param {readonly string[]} args */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });

if (values.change !== undefined) {
  const { sources, others } = filesOfChange(git("diff", "--name-only", values.change).split("\n"));
  console.log(`${sources.length} source files:\n${sources.map((file) => `  ${file}`).join("\n")}`);
  console.log(
    `${others.length} tests, documents and others:\n${others.map((file) => `  ${file}`).join("\n")}`,
  );
} else {
  const now = figuresOf(readTree(root));
  const [ref] = positionals;
  const before = ref === undefined ? undefined : figuresOf(readTreeAt(root, git("rev-parse", ref).trim()));
  for (const [name, figure] of now.totals) {
    console.log(`${name.padEnd(46)} ${beside(before?.totals.get(name), figure)}`);
  }
  if (values.files) {
    for (const file of [...new Set([...(before?.files.keys() ?? []), ...now.files.keys()])].sort()) {
      console.log(
        `${file.padEnd(60)} ${beside(before && (before.files.get(file) ?? 0), now.files.get(file) ?? 0)}`,
      );
    }
  }
}

/**
 * @param {number | undefined} before
 * @param {number} now
 */
function beside(before, now) {
  return before === undefined ? String(now) : `${before} → ${now}`;
}
