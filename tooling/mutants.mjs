/**
 * Plants faults in the stores, one after the other, and runs the test that must find each: a case of the conformance kit, or one of
 * the store's own where the kit cannot make what it takes, such as two beginnings in one instant.
 *
 *     node tooling/mutants.mjs [part of a package's name]
 *
 * Not a part of `npm test`: each fault takes a server and some seconds. Ends with 1 if one survived.
 */
import { join } from "node:path";
import { mutants } from "./checks/src/mutants.mjs";
import { execute } from "./checks/src/runner/execute.mjs";
import { root } from "./checks/src/runner/workspace.mjs";
import { withFault } from "./checks/src/with-fault.mjs";

const [wanted = ""] = process.argv.slice(2);
let survived = 0;

for (const { package: folder, file, find, replace, test, caughtBy } of mutants) {
  if (!folder.includes(wanted)) continue;
  const path = join(root, "packages", file);
  // The pattern of `-t` is a regular expression.
  const name = caughtBy.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const cwd = join(root, "packages", folder);
  const { ok, output } = await withFault(
    path,
    (source) => source.replace(find, () => replace),
    () => execute("npx", ["vitest", "run", test, "-t", name], { cwd }),
  );
  const isCaught = !ok && output.includes(caughtBy) && /AssertionError|Contract: /.test(output);
  if (!isCaught) survived++;
  console.log(`${isCaught ? "caught  " : "SURVIVED"} ${file}: ${find.trim().split("\n")[0]} (${caughtBy})`);
}
console.log(survived === 0 ? "All were caught." : `${survived} survived.`);
process.exitCode = survived === 0 ? 0 : 1;
