/**
 * Holds the repository to its rules: which package imports what, which files a store has, what a manifest says,
 * what no file may name. The rules are in `checks/src/structure`.
 */

import { root } from "./checks/src/runner/workspace.mjs";
import { checkStructure, rules } from "./checks/src/structure/index.mjs";

const broken = checkStructure(root);
for (const line of broken) console.error(line);
const count = Object.keys(rules).length;
console.log(
  broken.length === 0
    ? `All ${count} rules hold.`
    : `${broken.length} found that break one of ${count} rules.`,
);
process.exitCode = broken.length === 0 ? 0 : 1;
