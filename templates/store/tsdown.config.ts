import { defineConfig, type UserConfig } from "tsdown";

const config: UserConfig = defineConfig({
  entry: "src/index.ts",
  platform: "node",
  format: "esm",
  fixedExtension: false,
  target: "node20.19",
  dts: true,
  clean: true,
});
export default config;
