/**
 * The commands `npm test`, `npm run thorough`, `npm run test:browser` and `npm run demo`. It runs before anything is installed, so it uses Node alone.
 *
 *     node tooling/run.mjs test
 *     node tooling/run.mjs thorough
 *     node tooling/run.mjs browser
 *     node tooling/run.mjs demo [arguments of `turnkeep replay`]
 */
import { browserCommand } from "./checks/src/runner/browser-command.mjs";
import { demoCommand } from "./checks/src/runner/demo-command.mjs";
import { testCommand } from "./checks/src/runner/test-command.mjs";

const [command, ...args] = process.argv.slice(2);
if (command === "thorough") {
  // The same tests, whole where the usual run takes the part that may differ, and each property more often.
  process.env.TURNKEEP_THOROUGH ??= "1";
  process.env.TURNKEEP_PROPERTY_RUNS ??= "500";
}
if ((command === "test" || command === "thorough") && args.length === 0) {
  process.exitCode = await testCommand((text) => process.stdout.write(text));
} else if (command === "browser" && args.length === 0) {
  process.exitCode = await browserCommand((text) => process.stdout.write(text));
} else if (command === "demo") {
  // On stderr, so that what the demo itself prints can be piped.
  process.exitCode = await demoCommand(args, (text) => process.stderr.write(text));
} else {
  console.error("Usage: node tooling/run.mjs test | thorough | browser | demo [arguments]");
  process.exitCode = 2;
}
