/**
 * Plants faults in the stores, one after the other, and runs the test that must find each: a case of the conformance kit, or one of
 * the store's own where the kit cannot make what it takes, such as two beginnings in one instant.
 *
 *     node tooling/mutants.mjs [part of a package's name]
 *
 * Not a part of `npm test`: each fault takes a server and some seconds. Ends with 1 if one survived.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mutants } from "./checks/src/mutants.mjs";
import { root } from "./checks/src/runner/workspace.mjs";

const [wanted = ""] = process.argv.slice(2);
let survived = 0;

for (const { package: folder, file, find, replace, test, caughtBy } of mutants) {
  if (!folder.includes(wanted)) continue;
  const path = join(root, "packages", file);
  const source = readFileSync(path, "utf8");
  const restore = () => writeFileSync(path, source);
  process.once("exit", restore);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  // The pattern of `-t` is a regular expression.
  const name = caughtBy.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const run = spawnSync("npx", ["vitest", "run", test, "-t", name], {
    cwd: join(root, "packages", folder),
    encoding: "utf8",
  });
  restore();
  process.removeListener("exit", restore);
  const isCaught =
    run.status !== 0 &&
    run.stdout.includes(caughtBy) &&
    /AssertionError|Contract: /.test(run.stdout + run.stderr);
  if (!isCaught) survived++;
  console.log(`${isCaught ? "caught  " : "SURVIVED"} ${file}: ${find.trim().split("\n")[0]} (${caughtBy})`);
}
console.log(survived === 0 ? "All were caught." : `${survived} survived.`);
process.exitCode = survived === 0 ? 0 : 1;
