import { existsSync, mkdtempSync, rmSync } from "node:fs";
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

/** Packs every public package as it would be published, all by one start of pnpm. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-packed-"));
  const env = await pnpmEnvironment();
  const packages = workspacePackages().filter(({ manifest }) => manifest.private !== true);
  const filters = packages.map(({ name }) => `--filter=${name}`);
  const { ok, output } = await execute(
    "pnpm",
    ["--recursive", ...filters, "pack", "--pack-destination", folder],
    { cwd: root, env },
  );
  const packed = packages.map(({ name, folder: home, manifest }): PackedPackage => {
    const file = `${name.replace(/^@/, "").replace("/", "-")}-${manifest.version}.tgz`;
    return { name, folder: home, tarball: join(folder, file) };
  });
  const missing = packed.filter(({ tarball }) => !existsSync(tarball)).map(({ name }) => name);
  if (!ok || missing.length > 0) throw new Error(`Not packed: ${missing.join(", ")}\n${output}`);
  project.provide("packed", packed);
  return () => rmSync(folder, { recursive: true, force: true });
}
