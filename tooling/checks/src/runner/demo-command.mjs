import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildStep } from "./build-step.mjs";
import { endWithThis } from "./children.mjs";
import { installStep } from "./install-step.mjs";
import { runSteps } from "./steps.mjs";
import { root } from "./workspace.mjs";

/**
 * `npm run demo`: builds the command `turnkeep` and replays conversations with it. The arguments are the
 * command's own; so are its output and its exit status.
 *
 * @param {readonly string[]} args
 * @param {(text: string) => void} print where the preparation is reported, not the demo's own output
 * @returns {Promise<number>}
 */
export async function demoCommand(args, print) {
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  const failed = await runSteps([installStep(env), buildStep(env, "turnkeep")], print);
  if (failed.length > 0) return 1;
  // Relative files among the arguments are meant from where the command was typed.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const bin = join(root, "packages", "cli", "dist", "bin.js");
  const child = spawn(process.execPath, [bin, "replay", ...args], { cwd, stdio: "inherit" });
  endWithThis(child);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
