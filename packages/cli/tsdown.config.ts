import { defineConfig, type UserConfig } from "tsdown";

const config: UserConfig = defineConfig({
  entry: ["src/index.ts", "src/bin.ts"],
  format: "esm",
  platform: "node",
  // The package names .js files.
  fixedExtension: false,
  target: "node20.19",
  dts: true,
  clean: true,
});
export default config;
