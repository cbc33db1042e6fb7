import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import type { TestProject } from "vitest/node";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Builds what tests start or load in another process, once for all files, from the workspace's sources, whether or not the
 * packages have been built. It lies one folder below the package, as `dist` does.
 */
export default async function buildKit(project: TestProject): Promise<void> {
  await build({
    cwd: root,
    config: false,
    entry: {
      bin: "src/bin.ts",
      "node-test": "src/node-test.ts",
      "file-store": "test/fixtures/file-store.ts",
      reference: "test/reference-store.ts",
    },
    outDir: ".cache",
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
  project.provide("kit", join(root, ".cache"));
}

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the built kit: its command, its binding to `node:test`, a store over files, the reference store. */
    kit: string;
  }
}
