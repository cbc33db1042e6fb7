import { defineConfig, type UserConfig } from "tsdown";

/** From the workspace's sources, so that nothing has to be built first. */
const config: UserConfig = defineConfig({
  entry: { load: "src/load.ts", main: "src/main.ts" },
  outDir: ".cache",
  format: "esm",
  platform: "node",
  fixedExtension: false,
  target: "node20.19",
  dts: false,
  logLevel: "error",
  external: ["tsdown"],
  noExternal: [/^@turnkeep\//],
  inputOptions: { resolve: { conditionNames: ["source", "import", "node", "default"] } },
});
export default config;
