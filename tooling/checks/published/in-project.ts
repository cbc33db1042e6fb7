import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { treeOf, UserProject } from "../src/published/project.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";

/** The tarball of each public package. */
export const packed: ReadonlyMap<string, string> = new Map(
  inject("packed").map(({ name, tarball }) => [name, tarball]),
);

/** Core, the assistant and the stores have no dependencies of their own: a user's driver is all that comes with them. */
const bringsNothing = /^@turnkeep\/(?:assistant|core|store-\w+)$/;

/** An empty project with these packages, ours from their tarballs; those that bring nothing may bring no other. */
export async function inProject(
  packages: readonly string[],
  use: (project: UserProject) => Promise<void>,
): Promise<void> {
  const project = UserProject.create();
  try {
    await project.install(packages.map((name) => packed.get(name) ?? `${name}@${versionOf(name)}`));
    const installed = project.installed();
    const libraries = packages.filter((name) => !bringsNothing.test(name));
    const expected = new Set([...packages, ...treeOf(libraries, installed)]);
    expect([...installed.keys()].sort()).toEqual([...expected].sort());
    await use(project);
  } finally {
    project.remove();
  }
}

/** The version of a library that the workspace itself is tested with. */
function versionOf(name: string): string {
  for (const { folder } of workspacePackages()) {
    const manifest = join(root, folder, "node_modules", name, "package.json");
    if (existsSync(manifest))
      return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  }
  throw new Error(`No package of the workspace depends on ${name}.`);
}
