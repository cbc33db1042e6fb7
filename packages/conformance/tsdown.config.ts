import { defineConfig, type UserConfig } from "tsdown";

const config: UserConfig = defineConfig({
  entry: ["src/index.ts", "src/vitest.ts"],
  format: "esm",
  platform: "node",
  target: "node20.19",
  dts: true,
  clean: true,
  fixedExtension: false,
});
export default config;
