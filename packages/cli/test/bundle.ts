import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import type { TestProject } from "vitest/node";

/**
 * Builds the programs that tests start, once for all files, from the workspace's sources, whether or not the packages have
 * been built: the command as a user starts it, and a server that has a folder open. They lie one folder below the package,
 * as `dist` does.
 */
export default async function buildPrograms(project: TestProject): Promise<void> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  await build({
    cwd: root,
    config: false,
    entry: { bin: "src/bin.ts", "folder-server": "test/folder-server.ts" },
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
  const built = (name: string): string => fileURLToPath(new URL(`../.cache/${name}.js`, import.meta.url));
  project.provide("programs", { command: built("bin"), server: built("folder-server") });
}

declare module "vitest" {
  interface ProvidedContext {
    programs: { readonly command: string; readonly server: string };
  }
}
