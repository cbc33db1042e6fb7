import { fileURLToPath } from "node:url";
import { build } from "tsdown";

/** The command. */
export const bundledCommand = (): Promise<string> => bundled("bin", "src/bin.ts");

/**
 * Builds a program from the workspace's sources, so that tests start what a user starts, whether or not the packages
 * have been built. It lies one folder below the package, as `dist` does.
 */
export async function bundled(name: string, source: string): Promise<string> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  await build({
    cwd: root,
    config: false,
    entry: { [name]: source },
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
  return fileURLToPath(new URL(`../.cache/${name}.js`, import.meta.url));
}
