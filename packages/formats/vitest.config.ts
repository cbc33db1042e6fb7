import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const sources = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));
const core = (file: string): string => sources(`core/src/${file}`);

/**
 * The sources of core and of the kit under an alias instead of the condition `source`: under that one Node would load the TypeScript sources
 * of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: {
      "@turnkeep/core/format-kit": core("format-kit.ts"),
      "@turnkeep/core/processors": core("processors.ts"),
      "@turnkeep/core/store-kit": core("store-kit.ts"),
      "@turnkeep/conformance": sources("conformance/src/index.ts"),
      "@turnkeep/core": core("index.ts"),
    },
  },
  // Most of what a file takes is to load core and fast-check, and no file leaves anything behind.
  test: { ...shared.test, isolate: false },
});

export default config;
