import { join } from "node:path";
import { execute } from "./execute.mjs";
import { root } from "./workspace.mjs";

/**
 * The step `build`: some packages, and those that they need.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} filter which packages, in Turborepo's words
 * @returns {import("./steps.mjs").Step}
 */
export function buildStep(env, filter) {
  const turbo = join(root, "node_modules", ".bin", "turbo");
  const task = ["run", "build", `--filter=${filter}`, "--output-logs=errors-only"];
  return { name: "build", needs: ["install"], run: () => execute(turbo, task, { cwd: root, env }) };
}
