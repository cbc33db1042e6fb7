import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The top of the repository. */
export const root = resolve(import.meta.dirname, "../../../..");

/**
 * @typedef {object} WorkspacePackage
 * @property {string} name
 * @property {string} folder relative to the top, with forward slashes
 * @property {Record<string, any>} manifest
 */

/**
 * The packages of the workspace, by folder.
 *
 * @param {string} top
 * @returns {WorkspacePackage[]}
 */
export function workspacePackages(top = root) {
  const folders = ["packages", "tooling", "examples"]
    .filter((parent) => existsSync(join(top, parent)))
    .flatMap((parent) => readdirSync(join(top, parent)).map((entry) => `${parent}/${entry}`));
  return [...folders.sort(), "bench"]
    .filter((folder) => existsSync(join(top, folder, "package.json")))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(top, folder, "package.json"), "utf8"));
      return { name: manifest.name, folder, manifest };
    });
}

/**
 * The version of pnpm that the workspace is pinned to.
 *
 * @param {string} top
 */
export function pnpmPin(top = root) {
  const { packageManager } = JSON.parse(readFileSync(join(top, "package.json"), "utf8"));
  const version = /^pnpm@(\d+\.\d+\.\d+)(?:\+|$)/.exec(packageManager)?.[1];
  if (version === undefined)
    throw new Error(`package.json pins no pnpm: packageManager is ${packageManager}.`);
  return version;
}
