import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Builds entries and the reference store from the workspace's sources, so that tests start what a user starts, whether
 * or not the packages have been built. Answers their folder: `.cache`, one folder below the package as `dist` is, or
 * one in it.
 */
export async function builtKit(
  entry: Readonly<Record<string, string>>,
  folder: string = "",
): Promise<string> {
  const outDir = join(".cache", folder);
  await build({
    cwd: root,
    config: false,
    entry: { ...entry, reference: "test/reference-store.ts" },
    outDir,
    format: "esm",
    platform: "node",
    fixedExtension: false,
    target: "node20.19",
    dts: false,
    clean: false,
    logLevel: "error",
    noExternal: [/^@turnkeep\//],
    inputOptions: { resolve: { conditionNames: ["source", "import", "node", "default"] } },
  });
  return join(root, outDir);
}

/** A folder in a built kit with these files, removed after the test. */
export function folderWith(kit: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(join(kit, "tests"), { recursive: true });
  const folder = mkdtempSync(join(kit, "tests", "harness-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
