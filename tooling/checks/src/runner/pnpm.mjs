import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execute } from "./execute.mjs";
import { pnpmPin, root } from "./workspace.mjs";

/**
 * The environment in which `pnpm` is the pinned one, fetched by npx: nothing is installed globally, and turbo,
 * which calls pnpm by name, finds it.
 *
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function pnpmEnvironment() {
  // What an npx around this one was told to run is not for this one.
  const { FORCE_COLOR: _, npm_config_call: _call, npm_config_package: _package, ...inherited } = process.env;
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...inherited, NO_COLOR: "1", TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
  const package_ = `--package=pnpm@${pnpmPin()}`;
  const { ok, output } = await execute("npx", ["-y", package_, "--", "node", "-p", "process.env.PATH"], {
    cwd: root,
    env,
  });
  const folder = output
    .split("\n")
    .flatMap((line) => line.split(delimiter))
    .find((entry) => entry.includes("_npx") && existsSync(join(entry, "pnpm")));
  if (!ok || folder === undefined) throw new Error(`npx could not fetch pnpm ${pnpmPin()}:\n${output}`);
  return { ...env, PATH: [folder, env.PATH].join(delimiter) };
}
