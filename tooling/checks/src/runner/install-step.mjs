import { execute } from "./execute.mjs";
import { pnpmEnvironment } from "./pnpm.mjs";
import { root } from "./workspace.mjs";

/**
 * The step `install`: fetches the pinned pnpm and installs what the lock file says. It fills `env` with the
 * environment that later steps run in.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {import("./steps.mjs").Step}
 */
export function installStep(env) {
  return {
    name: "install",
    run: async () => {
      // Where pnpm would ask a question, there is nobody to answer: CI makes it decide.
      Object.assign(env, await pnpmEnvironment(), { CI: "true" });
      return execute("pnpm", ["install", "--frozen-lockfile"], { cwd: root, env });
    },
  };
}
