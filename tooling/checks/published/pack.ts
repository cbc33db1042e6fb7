import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { execute } from "../src/runner/execute.mjs";
import { pnpmEnvironment } from "../src/runner/pnpm.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";

export interface PackedPackage {
  readonly name: string;
  /** Relative to the top of the repository. */
  readonly folder: string;
  readonly tarball: string;
}

declare module "vitest" {
  interface ProvidedContext {
    packed: readonly PackedPackage[];
  }
}

/** Packs every public package as it would be published. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-packed-"));
  const env = await pnpmEnvironment();
  const packed: PackedPackage[] = [];
  for (const package_ of workspacePackages()) {
    if (package_.manifest.private === true) continue;
    const destination = join(folder, package_.folder.replaceAll("/", "-"));
    mkdirSync(destination);
    const { ok, output } = await execute("pnpm", ["pack", "--pack-destination", destination], {
      cwd: join(root, package_.folder),
      env,
    });
    const [file] = readdirSync(destination);
    if (!ok || file === undefined) throw new Error(`${package_.name} could not be packed:\n${output}`);
    packed.push({ name: package_.name, folder: package_.folder, tarball: join(destination, file) });
  }
  project.provide("packed", packed);
  return () => rmSync(folder, { recursive: true, force: true });
}
