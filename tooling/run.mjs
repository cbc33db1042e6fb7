/**
 * The commands `npm test` and `npm run demo`. It runs before anything is installed, so it uses Node alone.
 *
 *     node tooling/run.mjs test
 *     node tooling/run.mjs demo [arguments of `turnkeep replay`]
 */
import { demoCommand } from "./checks/src/runner/demo-command.mjs";
import { testCommand } from "./checks/src/runner/test-command.mjs";

const [command, ...args] = process.argv.slice(2);
if (command === "test" && args.length === 0) {
  process.exitCode = await testCommand((text) => process.stdout.write(text));
} else if (command === "demo") {
  // On stderr, so that what the demo itself prints can be piped.
  process.exitCode = await demoCommand(args, (text) => process.stderr.write(text));
} else {
  console.error("Usage: node tooling/run.mjs test | demo [arguments]");
  process.exitCode = 2;
}
